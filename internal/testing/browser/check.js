// Returns what is wrong with the page, in words; defines tabStops and describe.
(() => {
  const wrong = []
  window.describe = e => {
    const s = e.cloneNode(false).outerHTML
    return s.slice(0, 100) + " " + (e.textContent || "").trim().slice(0, 40)
  }
  const shown = e => e.checkVisibility({ contentVisibilityAuto: true, visibilityProperty: true }) && e.getClientRects().length > 0
  window.tabStops = () => [...document.querySelectorAll("a[href], summary, input, button, select, textarea, [tabindex='0']")]
    .filter(shown).filter(e => e.type != "radio" || e.checked)

  const all = q => [...document.querySelectorAll(q)]
  const visible = all("body *").filter(shown)
  const root = document.documentElement
  if (root.scrollWidth > window.innerWidth) {
    const wide = visible.filter(e => e.getBoundingClientRect().right > window.innerWidth + 1 && !e.closest(".scroll, svg")).slice(0, 5)
    wrong.push(`scrolls sideways: ${root.scrollWidth} of ${window.innerWidth}: ` + wide.map(describe).join("; "))
  }
  if (!root.lang) wrong.push("html has no lang")
  if (!document.title.trim()) wrong.push("no title")
  for (const q of ["main", "body > header", "body > footer"])
    if (all(q).length != 1) wrong.push(`${all(q).length} of ${q}`)
  if (all("h1").length != 1) wrong.push(`${all("h1").length} of h1`)
  for (const e of all("body > *")) if (!e.matches("header, main, footer, nav, .skip")) wrong.push("outside of all landmarks: " + describe(e))

  for (const e of all("input:not([type=hidden]), select, textarea"))
    if (![...(e.labels || [])].some(l => l.textContent.trim()) && !e.ariaLabel) wrong.push("without a label: " + describe(e))
  const navs = all("nav").filter(shown).map(e => e.ariaLabel)
  for (const name of navs) if (!name || navs.indexOf(name) != navs.lastIndexOf(name)) wrong.push(`landmarks of one name: nav ${name}`)
  for (const e of all("ul > *, ol > *")) if (!e.matches("li")) wrong.push("in a list, but no item of it: " + describe(e))

  const ids = all("[id]").map(e => e.id)
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) != i))) wrong.push("id twice: " + id)
  for (const a of all("a[href^='#']")) if (!document.getElementById(a.hash.slice(1))) wrong.push("leads nowhere: " + describe(a))
  for (const e of all("[aria-labelledby]")) if (!document.getElementById(e.getAttribute("aria-labelledby"))) wrong.push("named by nothing: " + describe(e))

  let level = 0
  for (const h of all("h1, h2, h3, h4, h5, h6").filter(shown)) {
    const n = Number(h.tagName[1])
    if (n > level + 1) wrong.push(`h${level} is followed by ${describe(h)}`)
    level = n
  }
  for (const t of all("table")) if (!t.querySelector("th[scope=col]")) wrong.push("a table without column headers")
  for (const e of all("img:not([alt]), svg[role=img]:not([aria-label])")) wrong.push("a picture without words: " + describe(e))
  for (const e of all("[onclick], [onload], [onerror], [style], script:not([src])")) wrong.push("inline script or style: " + describe(e))
  for (const e of all(".scroll").filter(shown)) if (e.scrollWidth > e.clientWidth && e.tabIndex < 0) wrong.push("scrolls, but not by keyboard: " + describe(e))
  for (const e of visible.filter(e => ["auto", "scroll"].includes(getComputedStyle(e).overflowX) && e.tabIndex < 0)) wrong.push("scrolls, but not by keyboard: " + describe(e))

  // Contrast of text to what it stands on (WCAG 2.2, 1.4.3). Texts of figures
  // stand on shapes, and are checked where they are drawn.
  const numbers = c => (c.match(/[\d.]+/g) || []).map(Number)
  const luminance = c => {
    const [r, g, b] = numbers(c).slice(0, 3).map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const ground = e => {
    for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor
      if ((numbers(c)[3] ?? 1) == 1 && c != "transparent") return c
    }
    return "rgb(255, 255, 255)"
  }
  const seen = new Set()
  for (const e of visible.filter(e => !e.closest("svg") && [...e.childNodes].some(n => n.nodeType == 3 && n.textContent.trim()))) {
    const s = getComputedStyle(e), back = ground(e), large = parseFloat(s.fontSize) >= 24 || parseFloat(s.fontSize) >= 18.66 && s.fontWeight >= 700
    const [a, b] = [luminance(s.color), luminance(back)].sort((x, y) => y - x)
    const ratio = (a + 0.05) / (b + 0.05), kind = s.color + back + large
    if (ratio < (large ? 3 : 4.5) && !seen.has(kind)) {
      seen.add(kind)
      wrong.push(`contrast ${ratio.toFixed(2)}: ${s.color} on ${back}: ${describe(e)}`)
    }
  }
  return wrong
})()
