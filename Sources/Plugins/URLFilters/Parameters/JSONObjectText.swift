import Errand
import ErrandEssentials
import ErrandJSONSyntax

/// Adds members to a JSON object. The other bytes stay unchanged: order, spacing, and numbers beyond the precision of
/// `Double`.
struct JSONObjectText {
    struct Fault: Error { let offset: Int }

    struct Member {
        let name: String
        /// From the name's opening quote to the end of the value.
        let range: Range<Int>
        let value: Range<Int>
        let text: String?
    }

    private let bytes: [UInt8]
    let members: [Member]
    private let end: Int

    static func isObject(_ data: Data) -> Bool {
        data.first { !JSONGrammar.isSpace($0) } == JSONGrammar.openBrace
    }

    /// Skips nested values by their brackets and tokens, without recursion.
    init(_ data: Data) throws(Fault) {
        bytes = Array(data)
        var reader = Reader(bytes)
        (members, end) = (try reader.members(), reader.end)
    }

    func text(of member: Member) -> String {
        member.text ?? String(decoding: bytes[member.value], as: UTF8.self)
    }

    /// Names are unique in JSON, so `.append` adds only missing members, like `.keep`.
    func merging(_ new: Parameters, _ rule: MergeRule, filter: String) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var result = Data(bytes)
        var (added, replaced) = (Data(), [(range: Range<Int>, value: Data)]())
        var names = Set<String>()
        // The last parameter of a repeated name wins, as in JSON request bodies.
        for item in new.items.reversed() where names.insert(item.name).inserted {
            guard let value = try? encoder.encode(item.value) else {
                throw URLFilterError(
                    .invalidParameters, filter: filter, "the parameter “\(item.name)” can't be written as JSON")
            }
            let olds = members.filter { $0.name == item.name }
            if olds.isEmpty {
                let name = try encoder.encode(item.name)
                added = name + Data(":".utf8) + value + (added.isEmpty ? Data() : Data(",".utf8)) + added
            } else if rule == .replace {
                replaced += olds.map { ($0.value, value) }
            }
        }
        if !added.isEmpty {
            result.insert(
                contentsOf: (members.isEmpty ? Data() : Data(",".utf8)) + added,
                at: members.last?.range.upperBound ?? end)
        }
        for (range, value) in replaced.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
            result.replaceSubrange(range, with: value)
        }
        return result
    }

    private struct Reader {
        private let bytes: [UInt8]
        private var tokens: JSONTokenizer
        private(set) var end = 0

        init(_ bytes: [UInt8]) { (self.bytes, tokens) = (bytes, JSONTokenizer(bytes)) }

        mutating func members() throws(Fault) -> [Member] {
            var members: [Member] = []
            try expect(.openBrace, next())
            var token = try next()
            if token.kind != .closeBrace {
                while true {
                    try expect(.string, token)
                    if case .malformed(_, let offset) = token.state { throw Fault(offset: offset) }
                    try expect(.colon, next())
                    let value = try value()
                    members.append(
                        Member(
                            name: string(token.content), range: token.range.lowerBound..<value.range.upperBound,
                            value: value.range, text: value.text))
                    let behind = try next()
                    guard behind.kind == .comma else {
                        try expect(.closeBrace, behind)
                        token = behind
                        break
                    }
                    token = try next()
                }
            }
            end = token.range.lowerBound
            if let rest = tokens.next() { throw Fault(offset: rest.range.lowerBound) }
            return members
        }

        private mutating func next() throws(Fault) -> JSONToken {
            guard let token = tokens.next() else { throw Fault(offset: bytes.count) }
            return token
        }

        private func expect(_ kind: JSONToken.Kind, _ token: JSONToken) throws(Fault) {
            guard token.kind == kind else { throw Fault(offset: token.range.lowerBound) }
        }

        private mutating func value() throws(Fault) -> (range: Range<Int>, text: String?) {
            let first = try next()
            var token = first
            var open: [JSONToken.Kind] = []
            while true {
                switch token.kind {
                case .openBrace: open.append(.closeBrace)
                case .openBracket: open.append(.closeBracket)
                case .closeBrace, .closeBracket: try expect(open.popLast() ?? .invalid, token)
                case .comma, .colon: if open.isEmpty { throw Fault(offset: token.range.lowerBound) }
                case .string:
                    // The receiver checks the string's content.
                    if token.content.upperBound == token.range.upperBound { throw Fault(offset: bytes.count) }
                case .number, .literal, .invalid:
                    if case .malformed(_, let offset) = token.state { throw Fault(offset: offset) }
                }
                if open.isEmpty { break }
                token = try next()
            }
            let isText = first.kind == .string && first.state == .whole
            return (first.range.lowerBound..<token.range.upperBound, isText ? string(first.content) : nil)
        }

        private func string(_ range: Range<Int>) -> String {
            String(decoding: JSONGrammar.unescaped(bytes[range]), as: UTF8.self)
        }
    }
}
