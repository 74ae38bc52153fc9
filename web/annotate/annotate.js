// The pages work without this script. It adds keys, keeps marked words and
// comments that were not sent yet, and does not count the time away.
"use strict"

const form = document.getElementById("answer")
const store = {
  get: key => { try { return localStorage.getItem(key) } catch (_) { return null } },
  set: (key, value) => { try { value === null ? localStorage.removeItem(key) : localStorage.setItem(key, value) } catch (_) {} },
}

// Nothing is sent twice by an impatient hand.
for (const f of document.querySelectorAll("form"))
  f.addEventListener("submit", e => {
    if (f.sent || e.submitter && e.submitter.hidden) return e.preventDefault() // hidden: Return on a word is no answer
    f.sent = true
    setTimeout(() => { f.sent = false }, 4000) // the network may have failed
  })

// The draft of the shown question: what is marked and written. It stays until
// another page shows, so that an answer that was not received is not lost.
const draft = "crosstalk-draft"
if (!form) store.set(draft, null)

if (form) {
  const kept = [...form.elements].filter(e => e.type == "checkbox" || e.name == "comment" || e.id == "other")
  let saved
  try { saved = JSON.parse(store.get(draft)) } catch (_) {}
  if (saved && saved.id == form.dataset.id && saved.values.length == kept.length) {
    kept.forEach((e, i) => { if (e.type == "checkbox") e.checked = saved.values[i]; else e.value = saved.values[i] })
    const comment = document.getElementById("comment")
    if (comment.value) comment.closest("details").open = true
  } else store.set(draft, null)
  form.addEventListener("input", () =>
    store.set(draft, JSON.stringify({ id: form.dataset.id, values: kept.map(e => e.type == "checkbox" ? e.checked : e.value) })))

  let away = 0, left = document.hidden ? Date.now() : 0
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) left = Date.now()
    else if (left) { away += Date.now() - left; left = 0 }
    form.elements.away.value = away
  })
}

// Keys, which can be switched off.
if (document.querySelector("[data-key]")) {
  const label = document.createElement("label"), box = document.createElement("input")
  label.className = "keys"
  box.type = "checkbox"
  box.checked = store.get("crosstalk-keys") != "off"
  label.append(box, "Keys: numbers to answer, u to undo")
  document.querySelector("footer").append(label)
  const show = () => document.body.classList.toggle("off", !box.checked)
  show()
  box.addEventListener("change", () => { store.set("crosstalk-keys", box.checked ? "on" : "off"); show() })
  addEventListener("keydown", e => {
    if (!box.checked || e.ctrlKey || e.altKey || e.metaKey || e.repeat || e.isComposing) return
    if (e.target.matches("textarea, input:not([type=checkbox])")) return
    const button = document.querySelector(`[data-key="${CSS.escape(e.key.toLowerCase())}"]`)
    if (button) { e.preventDefault(); button.click() }
  })
}
