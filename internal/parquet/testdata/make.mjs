// Writes the Parquet files of this folder with arrow-rs:
//   npm install parquet-wasm@0.8.0 apache-arrow@21.2.0 && node make.mjs
import * as arrow from 'apache-arrow';
import * as pw from 'parquet-wasm';
import fs from 'fs';
function write(name, table, props) {
  const wasm = pw.Table.fromIPCStream(arrow.tableToIPC(table, 'stream'));
  fs.writeFileSync(name, pw.writeParquet(wasm, props));
}
const text = (a) => arrow.vectorFromArray(a, new arrow.Utf8());
const n = 60;
const ids = Array.from({length: n}, (_, i) => i + 1);
const flat = new arrow.Table({
  id: arrow.vectorFromArray(ids, new arrow.Int32()),
  sentence1: text(ids.map(i => `The lamp number ${i} stands left of the door.`)),
  sentence2: text(ids.map(i => i % 7 == 0 ? null : i % 5 == 0 ? '"The ""left"" door has a lamp."' : `Lampe ${i % 4}: 灯在门的左边。`)),
  label: arrow.vectorFromArray(ids.map(i => BigInt(i % 2)), new arrow.Int64()),
  checked: arrow.vectorFromArray(ids.map(i => i % 3 == 0), new arrow.Bool()),
  score: arrow.vectorFromArray(ids.map(i => i / 4), new arrow.Float64()),
});
const P = () => new pw.WriterPropertiesBuilder();
write('snappy.parquet', flat, P().setCompression(pw.Compression.SNAPPY).build());
write('plain-groups.parquet', flat, P().setCompression(pw.Compression.UNCOMPRESSED).setDictionaryEnabled(false).setMaxRowGroupSize(17).build());
write('gzip-v2.parquet', flat, P().setCompression(pw.Compression.GZIP).setWriterVersion(pw.WriterVersion.V2).setDataPageSizeLimit(20).setWriteBatchSize(4).build());
write('zstd.parquet', flat, P().setCompression(pw.Compression.ZSTD).build());
const struct = (o) => arrow.vectorFromArray(o, new arrow.Struct([new arrow.Field('de', new arrow.Utf8(), true), new arrow.Field('en', new arrow.Utf8(), true)]));
const listOf = new arrow.List(new arrow.Field('element', new arrow.Utf8(), true));
const nested = new arrow.Table({
  premise: struct(ids.map(i => i == 9 ? null : ({de: `Satz ${i}.`, en: i == 4 ? null : `Sentence ${i}.`}))),
  hypothesis: arrow.vectorFromArray(ids.map(i => ({language: i % 10 == 0 ? [] : i % 11 == 0 ? null : ['de', 'en'], translation: i % 10 == 0 ? [] : [`Folge ${i}.`, i == 3 ? null : `Consequence ${i}.`]})),
     new arrow.Struct([new arrow.Field('language', listOf, true), new arrow.Field('translation', listOf, true)])),
  label: arrow.vectorFromArray(ids.map(i => BigInt(i % 3)), new arrow.Int64()),
});
write('lists.parquet', nested, P().setCompression(pw.Compression.SNAPPY).setDataPageSizeLimit(20).setWriteBatchSize(4).build());
