// The search compares each word as the beginning of a word, so "a" would find every word that starts with it. Words of
// a question that say nothing are removed; of the others, only the last one, while it is typed, is also a beginning.
const stopWords = new Set(
  ("a an and are as at be but by can did do does for from has have how i if in into is it its me must my no not of on or so " +
    "that the their there these they this to was what when where which who why will with would you your").split(" ")
)

const question = /^\s*(how|what|which|why|when|where|who|can|do|does)\b/i
const message =
  /[:'"`\[…]|[A-Z]{2,}_|\b(is|are|no|not|cannot|could|must|fails?|failed|error|unknown|invalid|required|already|exceeded)\b/

// A message finds its page first, by the tag of that page; a question finds the page of its subject.
function wordsOf(query) {
  const words = query.toLowerCase().split(/[\s,:;()\[\]{}"'`/?!*^~]+|\.(?!\d)/).map(word => word.replace(/^[+-]+/, ""))
  const telling = words.filter(word => word && !stopWords.has(word))
  if (!telling.length) return query
  const terms = [...telling.map(word => `${word}^1`), telling.at(-1)]
  return [...terms, ...(message.test(query) && !question.test(query) ? ["tags:message^1"] : [])].join(" ")
}

const send = Worker.prototype.postMessage
const QUERY = 2 // of Material's search
Worker.prototype.postMessage = function (message, ...options) {
  return send.call(this, message?.type === QUERY ? { ...message, data: wordsOf(message.data) } : message, ...options)
}

for (const block of globalThis.document?.querySelectorAll?.("pre") ?? [])
  if (/[─│┬▼►]/.test(block.textContent)) block.classList.add("drawing")

// A long path in a first column continues on the next line after a dot, so that the table is as wide as the window.
for (const code of globalThis.document?.querySelectorAll?.("td:first-child code") ?? [])
  if (/\S{40}/.test(code.textContent)) code.innerHTML = code.innerHTML.replace(/(?<=[\w\]])\.(?=[a-z])/g, ".<wbr>")
