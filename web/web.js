// The pages work without this script. It keeps the progress up to date and the
// URLs of searches short. It inserts untrusted data as text only, never as markup.
"use strict"

for (const form of document.querySelectorAll("form:not([method])"))
  form.addEventListener("submit", () => {
    for (const e of form.elements) if (e.name && !e.value) e.disabled = true
  })
addEventListener("pageshow", () => {
  for (const e of document.querySelectorAll("form [disabled]")) e.disabled = false
})

for (const select of document.querySelectorAll("form select"))
  select.addEventListener("change", () => select.form.requestSubmit())

// Tables of figures are sorted by the column whose title is chosen: numbers as numbers, undefined figures last.
const number = text => parseFloat(text.replace(/^[[(<+~ ]+/, ""))
for (const table of document.querySelectorAll(".tables table")) {
  const body = table.tBodies[0], titles = [...table.tHead.rows[0].cells]
  document.getElementById("sortable").hidden = false
  if (body.rows.length <= 30) table.closest("details").open = true
  titles.forEach((title, column) => {
    const choose = document.createElement("a"), cell = row => row.cells[column].textContent
    choose.href = "#tables"
    choose.append(...title.childNodes)
    title.append(choose)
    choose.addEventListener("click", e => {
      e.preventDefault()
      const order = title.ariaSort == "ascending" ? -1 : 1
      for (const t of titles) t.removeAttribute("aria-sort")
      title.ariaSort = order > 0 ? "ascending" : "descending"
      body.append(...[...body.rows].sort((r, s) => {
        const a = cell(r), b = cell(s), x = number(a), y = number(b)
        if (!isNaN(x) && !isNaN(y)) return order * (x - y)
        if (a == "-" || b == "-") return (a == "-") - (b == "-")
        return order * (a < b ? -1 : a > b)
      }))
    })
  })
}

const live = document.body.dataset.live
if (live) {
  const get = name => document.getElementById("live-" + name)
  const say = (name, text) => {
    const e = get(name)
    if (e && e.textContent != text) e.textContent = text
    if (e) e.hidden = !text
  }
  const list = latest => {
    const old = get("latest")
    if (!old) return
    old.replaceChildren(...latest.map(a => {
      const li = document.createElement("li"), prompt = document.createElement("p"), answer = document.createElement("p")
      prompt.className = "k"
      answer.className = "t"
      for (const p of [prompt, answer]) p.dir = "auto"
      prompt.textContent = a.Prompt
      answer.textContent = a.Answer || a.Status
      li.append(prompt, answer)
      return li
    }))
  }
  let version, wait = 1500
  const look = async () => {
    if (document.hidden) return setTimeout(look, 1000)
    try {
      const r = await fetch(live, { headers: { Accept: "application/json" } })
      if (!r.ok) throw r.status
      const p = await r.json()
      if (!p.Changing || version && version != p.Version) {
        if (document.body.dataset.reload) return location.reload()
        return say("index", "All answers are indexed now; reload the page to see them.") // do not interrupt a reader
      }
      version = p.Version
      for (const name of ["State", "Asks", "Detail", "Index"]) say(name.toLowerCase(), p[name])
      const bar = get("bar")
      if (bar && p.Of) { bar.max = p.Of; bar.value = p.Done }
      list(p.Latest || [])
      wait = 1500
    } catch (_) {
      wait = Math.min(2 * wait, 30000)
    }
    setTimeout(look, wait)
  }
  setTimeout(look, wait)
}
