// Writes references and bases with the URLs that this program's URL class makes of them: one JSON array per line,
// [base, reference, expected].
//
//   node Tests/URLs/generate.js 300000 7 >cases.jsonl      arguments: number of cases, seed
//
// `expected` is null if the reference is invalid. Node 20 (ada 2.9) makes three mistakes, which are corrected or left
// out: it resolves `a#b` against `mailto:x`, leaves no slash if `..` removes the last segment of `foo://h/a`, and takes
// a file's segment `c:x` as a drive. Errand percent-encodes every character that RFC 3986 doesn't allow, some of which
// the standard leaves unencoded, and refuses host names with " ` { or }; `expected` follows Errand. docs/urls.md lists
// these differences.
"use strict"

const [count, seed] = process.argv.slice(2).map(Number)
let state = (seed || 1) >>> 0
function random(limit) {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) % limit
}
const pick = (list) => list[random(list.length)]
const some = (limit, make) => Array.from({ length: random(limit) }, make).join("")

const bases = [
    "http://example.com/", "https://example.com/a/b/c?d=e#f", "http://example.com:8080/a/b/", "https://e.com",
    "https://u:p@e.com/x/y", "http://127.0.0.1:80/v1/items?page[number]=1", "http://[::1]:9/a", "http://EXAMPLE.com/%7Ea/./b",
    "ws://e.com/chat", "wss://e.com:443/chat?x", "ftp://e.com/a/b", "file:///C:/a/b", "file:///a/b", "file://host/a/b?c",
    "foo://h/a/b", "foo:///a/b", "foo:/a/b", "foo://h", "mailto:a@b", "data:text/plain,a", "foo:/.//p", "http://e.com//a//b",
]
const schemes = [
    "", "", "", "", "", "http:", "https:", "HTTP:", "hTTps:", "ws:", "wss:", "ftp:", "file:", "foo:", "mailto:", "a+b-c.d:",
    "1a:", ":", "ht tp:", "javascript:", "data:",
]
const slashes = ["", "", "/", "//", "//", "//", "///", "\\\\", "\\", "/\\", "\\/", "////", "/\t/", "//\n"]
const users = ["", "", "", "", "", "", "u@", "u:p@", ":@", "@", "a:b:c@", "a@b@", "u%@", "[u]@", "a/b@", "ü@", "%40@", "u;=x@"]
const hosts = [
    "", "e.com", "e.com", "EXAMPLE.com", "e.com.", "a_b.c", "a-b", "1.2.3.4", "127.1", "0x7f.1", "0177.0.0.1", "0x", "0",
    "1.2.3.4.5", "256.1.1.1", "1.256", "4294967295", "4294967296", "1.2.3.", "1..2", "09", "0x1.0x2.0x3.0x4.", "foo.0x", "foo.09",
    "foo.1e", "[::1]", "[::]", "[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7::]", "[::1.2.3.4]", "[::ffff:1.2.3.4]", "[1::2::3]",
    "[0:0:0:1:0:0:0:0]", "[2001:DB8::A]", "[1:0:0:2:0:0:0:3]", "[::1", "::1", "[g::1]", "[1:2:3]", "[12345::]", "[::1.2.3]",
    "[::01.2.3.4]", "[::1.2.3.256]", "[1:2:3:4:5:6:1.2.3.4]", "[1:2:3:4:5:6:7:1.2.3.4]", "[:1]", "[1:]", "[]", "[fe80::1%25eth0]",
    "e%2ecom", "e%2Fcom", "%65.com", "e%.com", "e%zz", "e^f", "e|f", "e<f", "e f", "e\\f", "a!b", "a'b", "a(b)", "a*b", "a+b",
    "a,b", "a;b", "a=b", "a$b", "a&b", "a\"b", "a`b", "a{b}", "a~b", "localhost", "C:", "C|", "%31%32.1", "e%00", "e%7F",
    "e\u007Ff", "0xffffffff", "0x100000000", "1.0xffffff", "1.1.65535", "1.1.65536", "00000000000000000001", "1e", "0b1", "0o7",
]
const names = [
    "例え.jp", "bücher.de", "BÜCHER.De", "faß.de", "a.b。c", "ä_b.de", "ａ.com", "１２７.０.０.１", "ä b.de", "مثال.إختبار",
    "ä..b", "ö.com.", "ẞ.de", "a\u0308.de", "№.com", "ä%2eb", "%C3%A4.de", "%E4.de", "☕.example", "-ä.de", "xn--bcher-kva.de",
    "xn--a", "ä\u200d.de", "א1.com", "\u00ad", "ex\u00admple.com", "日本語。ＪＰ", "ａ／ｂ.com",
]
const ports = ["", "", "", "", ":", ":80", ":443", ":8080", ":0", ":65535", ":65536", ":00080", ":8a", ":-1", ":99999999999", ": 80", ":8\t0"]
const pieces = [
    "a", "b", "C", "1", "index.html", "%20", "%2F", "%2f", "%41", "%zz", "%", "%4", "%%", "%2e", "%2E", ".", "..", "...", "%2e%2e",
    ".%2E", "/", "/", "/", "/", "//", "\\", "?", "#", "[", "]", "x[1]", "{", "}", "{id}", "|", "^", "`", "\"", "<", ">", "'", "(", ")",
    "*", "!", "$", "&", "=", "+", ",", ";", ":", "@", "~", "_", "-", " ", "  ", "\t", "\n", "\r", "\u0000", "\u0001", "\u007f", "é",
    "日本", "😀", "\u0080", "\u00a0", "\ufffd", "C:", "C|", "/c|/", "page[number]=2", "filter=a%20b", "YWJj==", "a%20b", "q=a|b",
]
const ends = ["", "", "", "", "", "", "", "", " ", "\n", "\u0000", "\u001f", "\t "]

function host() { return random(12) ? pick(hosts) : random(3) ? pick(names) : some(6, () => pick(pieces)) }
function path() { return some(7, () => pick(pieces)) }
function reference() {
    switch (random(6)) {
    case 0: return some(8, () => pick(pieces))
    case 1: return pick(["/", "./", "../", "", "?", "#", "/./", "//" + pick(hosts) + "/"]) + path()
    case 2: return pick(schemes) + path()
    default:
        return pick(schemes) + pick(slashes) + pick(users) + host() + pick(ports)
            + pick(["", "/", "/", "\\", "?", "#", "/" + path()]) + path()
    }
}

const isHex = /^[0-9A-Fa-f]{2}/
function encode(text, allowed) {
    let result = ""
    for (let index = 0; index < text.length; index++) {
        const isEscape = text[index] === "%" && isHex.test(text.slice(index + 1, index + 3))
        if (isEscape || allowed.test(text[index])) result += text[index]
        else result += "%" + text.charCodeAt(index).toString(16).toUpperCase().padStart(2, "0")
    }
    return result
}
const pathBytes = /[A-Za-z0-9\-._~!$&'()*+,;=:@\/]/
const queryBytes = /[A-Za-z0-9\-._~!$&'()*+,;=:@\/?]/
const userBytes = /[A-Za-z0-9\-._~!$&'()*+,;=:]/
function strict(href) {
    const [, rest, query, fragment] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(href)
    const parts = /^([^:]*:)(?:\/\/([^/]*))?(.*)$/s.exec(rest)
    let authority = parts[2]
    if (authority !== undefined) {
        const at = authority.lastIndexOf("@")
        const host = authority.slice(at + 1)
        const isSpecial = /^(https?|wss?|ftp|file):$/.test(parts[1])
        if (isSpecial && /["`{}]/.test(host)) return null
        authority = (at < 0 ? "" : encode(authority.slice(0, at), userBytes) + "@")
            + (host.startsWith("[") ? host : encode(host, userBytes))
    }
    return parts[1] + (authority === undefined ? "" : "//" + authority) + encode(parts[3], pathBytes)
        + (query === undefined ? "" : "?" + encode(query.slice(1), queryBytes))
        + (fragment === undefined ? "" : "#" + encode(fragment.slice(1), queryBytes))
}

// Whether the standard allows only a fragment to be relative to the base, and the text isn't a fragment.
function isUnrelated(text, base) {
    const trimmed = text.replace(/[\t\n\r]/g, "").replace(/^[\0-\x20]+/, "")
    return /^(mailto|data):/.test(base) && !/^(#|[A-Za-z][A-Za-z0-9+.-]*:)/.test(trimmed)
}
// Whether node may have dropped the slash of an empty path, or taken a segment for a drive by mistake.
function isDoubtful(url, text) {
    if (url.protocol === "file:" && /^\/[A-Za-z]:[^/]/.test(url.pathname)) return true
    return url.pathname === "" && /\.|%2e/i.test(text.replace(/[\t\n\r]/g, ""))
}

let output = ""
for (let number = 0; number < count; number++) {
    const base = pick(bases)
    const text = pick(ends) + reference() + pick(ends)
    let expected = null
    try {
        const url = new URL(text, base)
        if (isDoubtful(url, text)) continue
        if (!isUnrelated(text, base)) expected = strict(url.href)
    } catch { /* null */ }
    output += JSON.stringify([base, text, expected]) + "\n"
    if (output.length > 1 << 20) {
        process.stdout.write(output)
        output = ""
    }
}
process.stdout.write(output)
