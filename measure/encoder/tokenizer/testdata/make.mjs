// Makes the reference files of this folder from synthetic text with
// SentencePiece's spm_train (0.1.97) and the Rust library tokenizers (0.22.2):
//
//	npm install --prefix /tmp/tokenizers @anush008/tokenizers@0.6.0
//	node make.mjs /tmp/tokenizers
import { createRequire } from 'node:module'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
const { Tokenizer } = createRequire(process.argv[2] + '/')('@anush008/tokenizers')
const here = dirname(fileURLToPath(import.meta.url))

let seed = 12345 // a linear congruential generator: the same text every time
const rand = n => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor(seed / 65536) % n }
const pick = list => list[rand(list.length)]

const scripts = [
  [...'bdfgklmnprstvz'].flatMap(c => [...'aeiou'].map(v => c + v)),
  [...'бвгдклмнпрст'].flatMap(c => [...'аеиоу'].map(v => c + v)),
  [...'βγδκλμνπρστς'].flatMap(c => [...'αειου'].map(v => c + v)),
  [...'日月火水木金土山川田人口'], [...'가나다라마바사'], ['éa', 'ñu', 'çé', 'üo'],
]
const word = () => { const s = rand(3) ? scripts[0] : pick(scripts); return Array.from({ length: 1 + rand(4) }, () => pick(s)).join('') }
const lexicon = Array.from({ length: 300 }, word)
const sentence = () => Array.from({ length: 3 + rand(9) }, () => pick(lexicon)).join(' ') + pick(['.', '!', '?', '', ' 12', ' 2024'])
const corpus = Array.from({ length: 4000 }, sentence)

// Rules of our own for SentencePiece's character map: source and target.
const rules = [
  ['\u00a0', ' '], ['\u3000', ' '], ['\t', ' '], ['\n', ' '], ['\r', ' '], ['\u200b', ''], ['\u0007', ''], ['\ufb01', 'fi'], ['\u2167', 'viii'],
  ['e\u0301', 'é'], ['e\u0301\u0323', 'ẹ'], ['n\u0303', 'ñ'], ['\u00bd', '1/2'], ['\u1100\u1161', '가'], ['\u{1f600}', ':)'], ['\u0301', ''],
  ...[...'abcxyzABC0123'].map(c => [String.fromCodePoint(c.codePointAt(0) + 0xfee0), c]),
]
const hex = s => [...s].map(c => c.codePointAt(0).toString(16).toUpperCase()).join(' ')

const dir = mkdtempSync(join(tmpdir(), 'spm'))
writeFileSync(join(dir, 'text'), corpus.join('\n'))
writeFileSync(join(dir, 'rules'), rules.map(([a, b]) => hex(a) + '\t' + hex(b)).join('\n') + '\n')
execFileSync('spm_train', ['--input=' + join(dir, 'text'), '--model_prefix=' + join(dir, 'm'), '--vocab_size=370', '--model_type=unigram',
  '--normalization_rule_tsv=' + join(dir, 'rules'), '--character_coverage=0.9995', '--num_threads=1'], { stdio: 'ignore' })

// fields walks one protocol buffer message.
function* fields(b) {
  let i = 0
  const varint = () => { let v = 0, s = 1, x; do { x = b[i++]; v += (x & 127) * s; s *= 128 } while (x & 128); return v }
  while (i < b.length) {
    const key = varint()
    if ((key & 7) === 0) yield [key >> 3, varint()]
    else if ((key & 7) === 5) { yield [key >> 3, b.readFloatLE(i)]; i += 4 }
    else if ((key & 7) === 2) { const n = varint(); yield [key >> 3, b.subarray(i, i += n)] }
    else throw new Error('wire type')
  }
}
const pieces = []
let charsmap
for (const [f, v] of fields(readFileSync(join(dir, 'm.model')))) {
  if (f === 1) { const p = Object.fromEntries(fields(v)); pieces.push([p[1].toString(), p[2] ?? 0]) }
  if (f === 3) charsmap = Object.fromEntries(fields(v))[2].toString('base64')
}
rmSync(dir, { recursive: true })

const added = (names, more = {}) => names.map(([content, id]) => ({ id, content, single_word: false, lstrip: content === '<mask>', rstrip: false, normalized: false, special: true, ...more }))
const template = {
  type: 'TemplateProcessing',
  single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }, { SpecialToken: { id: '</s>', type_id: 0 } }],
  pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 0 } }],
  special_tokens: { '<s>': { id: '<s>', ids: [0], tokens: ['<s>'] }, '</s>': { id: '</s>', ids: [2], tokens: ['</s>'] } },
}
const base = { version: '1.0', truncation: null, padding: null, decoder: null }

// XLM-RoBERTa's layout: <s> <pad> </s> <unk>, then the pieces.
// Q is only known before b, and Qb is as unlikely as anything: Qbu shows the price of an unknown.
const lowest = Math.min(...pieces.map(p => p[1]))
const vocab = [['<s>', 0], ['<pad>', 0], ['</s>', 0], ['<unk>', 0], ...pieces.slice(3), ['bu', -4], ['Qb', lowest], ['<mask>', 0]]
const names = [['<s>', 0], ['<pad>', 1], ['</s>', 2], ['<unk>', 3], ['<mask>', vocab.length - 1]]
const precompiled = { type: 'Precompiled', precompiled_charsmap: charsmap }
const unigram = { type: 'Unigram', unk_id: 3, vocab, byte_fallback: false }
const tokenizers = {
  unigram_words: {
    ...base, added_tokens: added(names), normalizer: precompiled,
    pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'WhitespaceSplit' }, { type: 'Metaspace', replacement: '▁', add_prefix_space: true }] },
    post_processor: template, model: unigram,
  },
  unigram: {
    ...base, added_tokens: added(names),
    normalizer: { type: 'Sequence', normalizers: [precompiled, { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' }] },
    pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
    post_processor: template, model: unigram,
  },
}

// A byte-level BPE learnt from the same text.
const visible = []
for (let b = 0, next = 256; b < 256; b++) visible.push(String.fromCodePoint(b > 32 && b < 127 || b > 160 && b !== 173 ? b : next++))
const counts = new Map()
for (const s of [...corpus.slice(0, 1000), ...Array(50).fill('zzzz zzzzzzz')]) for (const w of s.match(/ ?[^\s]+/g)) {
  const k = [...Buffer.from(w)].map(b => visible[b]).join(' ')
  counts.set(k, (counts.get(k) ?? 0) + 1)
}
let words = [...counts].map(([k, n]) => [k.split(' '), n])
const merges = []
for (let round = 0; round < 300; round++) {
  const pairs = new Map()
  for (const [w, n] of words) for (let i = 0; i + 1 < w.length; i++) pairs.set(w[i] + ' ' + w[i + 1], (pairs.get(w[i] + ' ' + w[i + 1]) ?? 0) + n)
  const [best] = [...pairs].reduce((a, b) => b[1] > a[1] || b[1] === a[1] && b[0] < a[0] ? b : a)
  merges.push(best)
  const [x, y] = best.split(' ')
  words = words.map(([w, n]) => {
    const out = []
    for (let i = 0; i < w.length; i++) if (w[i] === x && w[i + 1] === y) { out.push(x + y); i++ } else out.push(w[i])
    return [out, n]
  })
}
const ids = {}
for (const t of ['<s>', '<pad>', '</s>', '<unk>', ...visible, ...merges.map(m => m.replace(' ', '')), '<mask>', '<r>']) ids[t] ??= Object.keys(ids).length
const special = ['<s>', '<pad>', '</s>', '<unk>', '<mask>'].map(t => [t, ids[t]])
tokenizers.bpe = {
  ...base, added_tokens: [...added(special, { normalized: true }), ...added([['<r>', ids['<r>']]], { rstrip: true })], normalizer: null,
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
  post_processor: { type: 'RobertaProcessing', sep: ['</s>', 2], cls: ['<s>', 0], trim_offsets: true, add_prefix_space: false },
  model: { type: 'BPE', dropout: null, unk_token: null, continuing_subword_prefix: '', end_of_word_suffix: '', fuse_unk: false, byte_fallback: false, ignore_merges: false, vocab: ids, merges },
}

// Other normalisers, added tokens of every kind, and a WordPiece of letters.
const letters = {}
for (const t of ['[UNK]', '[CLS]', '[SEP]', '#tag', 'New York', 'İt', ...[...'abcdefghijklmnopqrstuvwxyz0123456789.,!?'].flatMap(c => [c, '##' + c])]) letters[t] = Object.keys(letters).length
const tag = (content, more) => ({ id: letters[content], content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: false, ...more })
tokenizers.mixed = {
  ...base,
  added_tokens: [tag('[CLS]'), tag('[SEP]'), tag('#tag', { single_word: true, rstrip: true }), tag('New York', { normalized: true, lstrip: true, rstrip: true }), tag('İt', { normalized: true })],
  normalizer: { type: 'Sequence', normalizers: [{ type: 'Strip', strip_left: true, strip_right: true }, { type: 'NFKD' }, { type: 'StripAccents' }, { type: 'Lowercase' }, { type: 'Replace', pattern: { String: 'ii' }, content: 'y' }] },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  post_processor: { type: 'BertProcessing', sep: ['[SEP]', 2], cls: ['[CLS]', 1] },
  model: { type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 20, vocab: letters },
}

const odd = ['', ' ', '  ', '\n', '\u00a0', '\u200b', '▁', '▁▁a', ' ▁ba', 'a▁b', '<s>', 'ba <s> ba', 'ba  <mask>  ba', '<mask>', '<mask><mask>', 'ba<unk>ba', '</s', '<pad> <pad>',
  'e\u0301', 'e\u0301\u0323', 'e\u0301\u0323\u0308', 'n\u0303o', 'ae\u0301b', '\u1100\u1161\u11a8', '\u1100\u1161', '\ufb01na', '\u2167', '１２３ａｂｃ', '\u{1f600}', '\u{1f468}\u200d\u{1f469}', '\u{1f600}\u{1f601}', 'x\u{10348}y',
  '\r\n', 'ba\r\nbe', '\tba\tbe', 'ba \t be', 'zzzzzzzz', 'zzz zzzzz', 'qqq', 'Q', 'Qbu', 'QbuQ', 'ba<r>  ba', '<r><r> ', 'a\u0903b', 'ba\u0301', '\u0301', 'ﷺ', '½ba', 'ba\u0007be', '日月火', '日 月', 'ДА бе', "don't we'll I'm they've you'd he's she're 'sup 'tis 'LL", "a'b 'c' ''s",
  'ba  be   bo', ' ba', 'ba ', '  ba  ', 'ba\n\nbe', 'ba \n', 'ba\u2028be', '12ba34', 'ba12', '²³', '①', '!!!', ' !!!', 'ba!!!be', '...ba', '\u0001', '\u00ad', 'a_b', '日本1', '\ufffd',
  '#tag', '#tags', 'a#tag', 'a #tag  b', '#tag#tag', 'new york', 'NEW  YORK', 'in New York  now', 'xnew yorkx', 'İt', 'it', 'ÉCOLE ñandú', 'Ⅷ', 'ﬁiii', 'ııi̇İI', 'ΣΑΣ ΟΔΟΣ', 'abcdefghijklmnopqrst', 'abcdefghijklmnopqrstu', '[CLS]a[SEP]', 'ᾳ', 'ẞß', '한국', 'नि', 'नमस्ते']
const noise = () => { // words and oddities, with any white space between
  let s = ''
  for (let i = 0, n = 1 + rand(8); i < n; i++) s += (rand(3) ? pick(lexicon) : pick(odd)) + pick(['', ' ', ' ', ' ', '  ', '\n', '\u00a0', ', ', "'", '日'])
  return s
}
const texts = [...odd, ...Array.from({ length: 150 }, sentence), ...Array.from({ length: 400 }, noise)]
writeFileSync(join(here, 'texts.json'), '[\n' + texts.map(t => JSON.stringify(t)).join(',\n') + '\n]\n')
for (const [name, t] of Object.entries(tokenizers)) {
  writeFileSync(join(here, name + '.json'), JSON.stringify(t))
  const rust = Tokenizer.fromString(JSON.stringify(t)), lines = []
  for (const text of texts) lines.push(JSON.stringify((await rust.encode(text)).getIds()))
  writeFileSync(join(here, name + '.ids.json'), '[\n' + lines.join(',\n') + '\n]\n')
}
