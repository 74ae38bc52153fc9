// Runs the same model with ONNX Runtime (npm onnxruntime-node): reads commands
// as JSON lines {"sorted", "texts"} and answers each with {"wall", "cpu"} in
// seconds. With "check" it answers the hidden states of the first text.
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { readFileSync } from 'node:fs'
const [modules, model, workload, threads] = process.argv.slice(2)
const ort = createRequire(modules + '/')('onnxruntime-node')
const texts = JSON.parse(readFileSync(workload))
const session = await ort.InferenceSession.create(model, {
  intraOpNumThreads: +threads, interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all',
})

async function run(batch) {
  const n = batch.length, length = Math.max(...batch.map(t => t.length))
  const ids = new BigInt64Array(n * length), mask = new Int32Array(n * length)
  batch.forEach((t, i) => t.forEach((id, j) => { ids[i * length + j] = BigInt(id); mask[i * length + j] = 1 }))
  const position = BigInt64Array.from({ length }, (_, i) => BigInt(i))
  const out = await session.run({
    input_ids: new ort.Tensor('int64', ids, [n, length]),
    position_ids: new ort.Tensor('int64', position, [1, length]),
    attention_mask: new ort.Tensor('int32', mask, [n, length]),
  })
  return Object.values(out)[0]
}

for await (const line of createInterface({ input: process.stdin })) {
  const { check, sorted, texts: count, batch } = JSON.parse(line)
  if (check) {
    const first = await run(texts.slice(0, 4)) // in a padded batch, as in the timing
    console.log(JSON.stringify(Array.from(first.data.slice(0, texts[0].length * first.dims[2]))))
    continue
  }
  const work = texts.slice(0, count)
  if (sorted) work.sort((a, b) => a.length - b.length)
  const cpu = process.cpuUsage(), start = process.hrtime.bigint()
  for (let i = 0; i < work.length; i += batch) await run(work.slice(i, i + batch))
  const wall = Number(process.hrtime.bigint() - start) / 1e9, used = process.cpuUsage(cpu)
  console.log(JSON.stringify({ wall, cpu: (used.user + used.system) / 1e6 }))
}
