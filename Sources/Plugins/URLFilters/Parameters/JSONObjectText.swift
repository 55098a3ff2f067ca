import Errand

import ErrandEssentials

/// The bytes of a JSON object and the ranges of its members, so that members can be added without changing the rest:
/// order, spacing, and numbers beyond the precision of `Double`.
struct JSONObjectText {
    struct Fault: Error { let offset: Int }

    struct Member {
        let name: String
        /// From the opening quote of the name to the end of the value.
        let range: Range<Int>
        let value: Range<Int>
    }

    private let bytes: [UInt8]
    private(set) var members: [Member] = []
    /// The offset of the closing brace.
    private var end = 0

    static func isObject(_ data: Data) -> Bool { data.first { !isSpace($0) } == UInt8(ascii: "{") }

    /// Reads the top level only; nested values are skipped by their brackets and strings, without recursion.
    init(_ data: Data) throws(Fault) {
        bytes = Array(data)
        var at = try skipSpace(0)
        try expect("{", &at)
        at = try skipSpace(at)
        if bytes[at] != UInt8(ascii: "}") {
            while true {
                let start = at
                let name = try string(&at)
                at = try skipSpace(at)
                try expect(":", &at)
                at = try skipSpace(at)
                let value = at
                try skipValue(&at)
                members.append(Member(name: name, range: start..<at, value: value..<at))
                at = try skipSpace(at)
                if bytes[at] != UInt8(ascii: ",") { break }
                at = try skipSpace(at + 1)
            }
        }
        end = at
        try expect("}", &at)
        if let rest = bytes[at...].firstIndex(where: { !Self.isSpace($0) }) { throw Fault(offset: rest) }
    }

    /// The JSON text of the value; the content of a string.
    func text(of member: Member) -> String {
        let slice = bytes[member.value]
        if slice.first == UInt8(ascii: "\""), let text = try? JSONDecoder().decode(String.self, from: Data(slice)) {
            return text
        }
        return String(decoding: slice, as: UTF8.self)
    }

    /// The bytes with added members. Names are unique in JSON: `.append` adds only what is missing, as `.keep` does.
    func merging(_ new: Parameters, _ rule: MergeRule) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var result = Data(bytes)
        var (added, replaced) = (Data(), [(range: Range<Int>, value: Data)]())
        var names = Set<String>()
        // The last parameter of a repeated name applies, as in JSON bodies of requests.
        for item in new.items.reversed() where names.insert(item.name).inserted {
            let value = try encoder.encode(item.value)
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

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// The offset of the next byte that is not white space; throws at the end of the bytes.
    private func skipSpace(_ start: Int) throws(Fault) -> Int {
        guard let at = bytes[min(start, bytes.count)...].firstIndex(where: { !Self.isSpace($0) }) else {
            throw Fault(offset: bytes.count)
        }
        return at
    }

    private func expect(_ character: Unicode.Scalar, _ at: inout Int) throws(Fault) {
        guard at < bytes.count, bytes[at] == UInt8(ascii: character) else { throw Fault(offset: at) }
        at += 1
    }

    /// Moves past a string.
    private func skipString(_ at: inout Int) throws(Fault) {
        try expect("\"", &at)
        while at < bytes.count, bytes[at] != UInt8(ascii: "\"") { at += bytes[at] == UInt8(ascii: "\\") ? 2 : 1 }
        try expect("\"", &at)
    }

    private func string(_ at: inout Int) throws(Fault) -> String {
        let start = at
        try skipString(&at)
        guard let text = try? JSONDecoder().decode(String.self, from: Data(bytes[start..<at])) else {
            throw Fault(offset: start)
        }
        return text
    }

    /// Moves past a value: a string, a scalar, or everything up to the closing bracket.
    private func skipValue(_ at: inout Int) throws(Fault) {
        var open: [UInt8] = []
        repeat {
            guard at < bytes.count else { throw Fault(offset: at) }
            switch bytes[at] {
            case UInt8(ascii: "\""): try skipString(&at)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                // In ASCII the closing bracket is the opening one plus 2.
                open.append(bytes[at] + 2)
                at += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard open.popLast() == bytes[at] else { throw Fault(offset: at) }
                at += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                if open.isEmpty { throw Fault(offset: at) }
                at += 1
            case let byte where Self.isSpace(byte): at += 1
            default: try skipScalar(&at)
            }
        } while !open.isEmpty
    }

    private func skipScalar(_ at: inout Int) throws(Fault) {
        let start = at
        while at < bytes.count, Self.isScalar(bytes[at]) { at += 1 }
        if at == start { throw Fault(offset: at) }
    }

    /// A character of a number, `true`, `false` or `null`.
    private static func isScalar(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"),
            UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
