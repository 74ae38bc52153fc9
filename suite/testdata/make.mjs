// Writes the Parquet files of this folder with arrow-rs:
//   npm install parquet-wasm@0.8.0 apache-arrow@21.2.0 && node make.mjs
import * as arrow from 'apache-arrow';
import * as pw from 'parquet-wasm';
import fs from 'fs';
function write(name, columns) {
  const wasm = pw.Table.fromIPCStream(arrow.tableToIPC(new arrow.Table(columns), 'stream'));
  fs.writeFileSync(name, pw.writeParquet(wasm, new pw.WriterPropertiesBuilder().setCompression(pw.Compression.SNAPPY).build()));
}
const text = (a) => arrow.vectorFromArray(a, new arrow.Utf8());
const int = (a) => arrow.vectorFromArray(a.map(BigInt), new arrow.Int64());
const paws = (s1, s2, label) => ({id: arrow.vectorFromArray([10, 12, 15], new arrow.Int32()), sentence1: text(s1), sentence2: text(s2), label: int(label)});
write('paws-x-en.parquet', paws(['The cat chased the dog .', 'Two bakers met a miller .', 'It rained , then it snowed .'], ['The dog chased the cat .', 'A miller was met by two bakers .', 'It snowed after it had rained .'], [0, 1, 1]));
write('paws-x-de.parquet', paws(['Die Katze jagte den Hund.', '"Zwei Bäcker trafen einen ""Müller""."', 'NS'], ['Der Hund jagte die Katze.', 'Ein Müller wurde von zwei Bäckern getroffen.', 'Es schneite, nachdem es geregnet hatte.'], [0, 1, 0]));
const en = ['The shop is closed.', 'The shop is closed.', 'Ada plays chess.'], de = ['Der Laden ist zu.', 'Der Laden ist zu.', 'Ada spielt Schach.'];
const langs = new arrow.List(new arrow.Field('element', new arrow.Utf8(), true));
write('xnli.parquet', {
  premise: arrow.vectorFromArray(en.map((e, i) => ({de: de[i], en: e})), new arrow.Struct([new arrow.Field('de', new arrow.Utf8(), true), new arrow.Field('en', new arrow.Utf8(), true)])),
  hypothesis: arrow.vectorFromArray([['Man kann dort gerade nichts kaufen.', 'Nothing can be bought there now.'], ['Der Laden ist offen.', 'The shop is open.'], ['Ada spielt gut.', 'Ada plays well.']].map(t => ({language: ['de', 'en'], translation: t})),
    new arrow.Struct([new arrow.Field('language', langs, true), new arrow.Field('translation', langs, true)])),
  label: int([0, 2, 1]),
});
write('xnli-de.parquet', {premise: text(de), hypothesis: text(['Man kann dort gerade nichts kaufen.', 'Der Laden ist offen.', 'Ada spielt gut.']), label: int([0, 2, 1])});
write('boolq.parquet', {question: text(['is the mill older than the bridge', 'does the ferry run in winter']), answer: arrow.vectorFromArray([true, false], new arrow.Bool()), passage: text(['The mill was built ten years before the bridge.', 'The ferry runs from May to September.'])});
