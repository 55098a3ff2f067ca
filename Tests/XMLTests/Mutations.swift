import Errand
import ErrandEssentials
import ErrandXML

/// Random changes to documents, reproducible by seed.
struct Mutations {
    private var random: SeededGenerator

    init(seed: Int) { random = SeededGenerator(seed: seed) }

    static let documents = [
        atom,
        "<?xml version='1.0' standalone=\"yes\" ?>\r\n<r a='1&#x41;\t&lt;' b=\"x'y\"><!-- c --><?p d?>t&amp;<![CDATA[ <&]] ]]>\r<e/></r >\n<!-- e -->",
        "<!DOCTYPE note><note xmlns:p='u'><p:to p:a='' a=''>T&#233;</p:to><from\u{E9}\u{B7}>x</from\u{E9}\u{B7}></note>",
        "<a><b><c><d x = 'y'/></c></b>]] > &quot;&apos;&gt;<?x?><?y z?></a><?z?>",
    ]

    private static let pieces = [
        "<", ">", "&", ";", "!", "?", "[", "]", "-", "'", "\"", "=", "/", " ", "\t", "\r", "\n", "a", "x", "1", ":",
        ".", "#",
        "]]>", "--", "-->", "<!--", "<![CDATA[", "<?", "?>", "<?xml version='1.0'?>", "<!DOCTYPE a>", "<!DOCTYPE a [",
        "</a>",
        "<a>", "<a/>", "&amp;", "&#0;", "&#xD800;", "&#1114112;", "&#x10FFFF;", "&x;", " a='1'", " a='2'", " xmlns='u'",
        " xmlns:p=''", "p:", "\u{0}", "\u{1}", "\u{7F}", "\u{85}", "\u{E9}", "\u{300}", "\u{FFFE}", "\u{FFFF}",
        "\u{FEFF}",
        "\u{1F600}", "\u{2028}", "xml", "XML", "version", "encoding='utf-8'", "standalone='no'",
    ].map { Array($0.utf8) }

    mutating func next() -> [UInt8] {
        var bytes = Array(random.pick(Self.documents).utf8)
        for _ in 0...random.below(3) {
            let place = random.below(bytes.count + 1)
            let end = min(bytes.count, place + random.below(random.chance(5) ? 40 : 4))
            switch random.below(6) {
            case 0: bytes.removeSubrange(place..<end)
            case 1: bytes.insert(contentsOf: random.pick(Self.pieces), at: place)
            case 2: bytes.replaceSubrange(place..<end, with: random.pick(Self.pieces))
            case 3: if place < bytes.count { bytes[place] = UInt8(random.below(random.chance(3) ? 256 : 128)) }
            case 4: bytes.insert(contentsOf: Array(bytes[place..<end]), at: random.below(bytes.count + 1))
            default: if place < bytes.count { bytes[place] ^= 1 << UInt8(random.below(8)) }
            }
        }
        return bytes
    }

    mutating func split(_ bytes: [UInt8]) -> [Data] {
        var (pieces, rest) = ([Data](), bytes[...])
        let longest = 1 + random.below(30)
        while !rest.isEmpty {
            let count = random.below(longest + 1)
            pieces.append(Data(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return pieces
    }

    /// Returns a tree and an equivalent document.
    mutating func tree(_ depth: Int = 0) -> (tree: XMLTree, text: String) {
        let names = ["a", "_b", "c-1", "d.e", "\u{E9}l\u{E9}ment", "\u{6F22}\u{5B57}", "x"]
        let name = random.pick(names)
        var (tree, text) = (XMLTree(XMLName(name)), "<\(name)")
        for number in 0..<random.below(4) {
            let (value, written) = self.text(isAttribute: true)
            tree.attributes[XMLName("a\(number)")] = value
            let quote = written.contains("'") ? "\"" : "'"
            text +=
                random.pick([" ", "\n", "\t "]) + "a\(number)" + random.pick(["=", " = "]) + quote + written + quote
        }
        var (body, last) = ("", "")
        for _ in 0..<(depth > 5 ? 0 : random.below(5)) {
            switch random.below(4) {
            case 0:
                let child = self.tree(depth + 1)
                if !last.isEmpty { tree.content.append(.text(last)) }
                last = ""
                tree.content.append(.element(child.tree))
                body.unicodeScalars += child.text.unicodeScalars
            case 1: body += random.pick(["<!-- - <a> & -->", "<?p?>", "<?p <a> ?>"])
            default:
                let (value, written) = self.text(isAttribute: false)
                // CR LF counts as one line end wherever LF comes from, and text can't contain ]]>.
                if body.utf8.last == 0x0D, written.utf8.first == 0x0A { continue }
                if body.utf8.last == 0x5D, written.utf8.first != 0x61 { continue }
                last.unicodeScalars += value.unicodeScalars
                body.unicodeScalars += written.unicodeScalars
            }
        }
        if !last.isEmpty { tree.content.append(.text(last)) }
        return (tree, body.isEmpty && random.chance(2) ? text + "/>" : text + ">" + body + "</\(name) >")
    }

    private mutating func text(isAttribute: Bool) -> (value: String, written: String) {
        let pieces = [
            ("a b", "a b"), ("<", "&lt;"), ("&", "&amp;"), ("\u{1F600}", "&#x1F600;"), ("\u{E9}", "\u{E9}"),
            ("\r", "&#13;"),
            ("]", "]"), ("\u{1F600}", "\u{1F600}"), ("'", "&apos;"), ("\"", "&#34;"), (">", "&gt;"),
            ("\u{10FFFF}", "&#1114111;"),
        ]
        let more =
            isAttribute
            ? [(" ", "\n"), (" ", "\r\n"), (" ", "\t"), ("\t", "&#9;"), (">", ">")]
            : [
                ("\n", "\r\n"), ("\n", "\r"), ("\n", "\n"), ("<&]]", "<![CDATA[<&]]]]>"), ("\n", "<![CDATA[\r]]>"),
                ("\t", "\t"),
            ]
        var (value, written) = ("", "")
        for _ in 0..<random.below(5) {
            let piece = random.pick(pieces + more)
            if written.utf8.last == 0x0D, piece.1.utf8.first == 0x0A { continue }
            value.unicodeScalars += piece.0.unicodeScalars
            written.unicodeScalars += piece.1.unicodeScalars
        }
        return (value, written)
    }
}
