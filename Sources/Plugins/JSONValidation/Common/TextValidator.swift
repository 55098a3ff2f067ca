package import ErrandJSONSyntax

/// The common part of the validators of shapes and of schemas: the beginning of a text, and the problems of the text
/// itself.
package protocol TextValidator: ~Copyable {
    var base: BytePointer { get }
    var end: BytePointer { get }
    var limits: JSONLimits { get }
    var problems: ProblemList { get set }

    /// The place of a frame's current value: the quote of its key in an object, its index in an array.
    func position(_ level: Int) -> ValuePosition
}

/// Where a value is within its object or array.
package enum ValuePosition {
    case key(BytePointer)
    case index(Int)
}

extension TextValidator where Self: ~Copyable {
    /// The first byte of the document; nil if there is none to read.
    package mutating func firstByte() -> BytePointer? {
        if end - base > limits.maximumBytes {
            problems.stop(
                .limit, pointer: "", expected: "at most \(limits.maximumBytes) bytes", found: "\(end - base)",
                offset: limits.maximumBytes)
            return nil
        }
        var p = base
        // A parser may ignore a byte order mark (RFC 8259, section 8.1).
        if end - p >= 3, p[0] == 0xEF, p[1] == 0xBB, p[2] == 0xBF { p += 3 }
        p = JSONGrammar.skipSpace(p, end)
        if p < end { return p }
        stop(.empty, at: p, depth: 0)
        return nil
    }

    @inline(never) package mutating func stop(_ fault: JSONFault, at p: BytePointer, depth: Int) {
        problems.stop(
            .syntax, pointer: pointer(depth), expected: fault.expected, found: fault.found(at: p, end), offset: p - base
        )
    }

    package mutating func tooDeep(at p: BytePointer, depth: Int) {
        problems.stop(
            .limit, pointer: pointer(depth), expected: "at most \(limits.maximumDepth) levels", found: "more",
            offset: p - base)
    }

    package mutating func tooManyKeys(at p: BytePointer, depth: Int) {
        problems.stop(
            .limit, pointer: pointer(depth), expected: "at most \(limits.maximumKeys) keys at a time", found: "more",
            offset: p - base)
    }

    package mutating func tooMuchMemory(at p: BytePointer, depth: Int) {
        problems.stop(
            .limit, pointer: pointer(depth),
            expected: "a text that takes at most \(limits.maximumMemoryBytes) bytes of memory",
            found: "one that takes more",
            offset: p - base)
    }

    /// The description of a text that takes too many steps.
    package var tooManySteps: (expected: String, found: String) {
        ("a text that takes at most \(limits.maximumSteps) steps", "one that takes more")
    }

    /// The pointer to the current value within a number of frames.
    package func pointer(_ depth: Int) -> String {
        var pointer = ""
        for level in stride(from: 1, through: depth, by: 1) {
            switch position(level) {
            case .key(let quote): pointer = JSONPointer.appending(key(quote), to: pointer)
            case .index(let index): pointer = JSONPointer.appending("\(index)", to: pointer)
            }
        }
        return pointer
    }

    /// The key that starts with this quote.
    package func key(_ quote: BytePointer) -> String {
        guard quote < end, quote.pointee == JSONGrammar.quote else { return "" }
        let scan = JSONGrammar.string(quote + 1, end)
        return scan.fault == .none ? JSONText(start: quote + 1, end: scan.end - 1).string(limit: 256) : ""
    }

    /// The kind of the valid value that starts here, in words.
    package static func kindWord(_ p: BytePointer) -> String {
        switch p.pointee {
        case JSONGrammar.quote: "a string"
        case JSONGrammar.openBrace: "an object"
        case JSONGrammar.openBracket: "an array"
        case 0x74, 0x66: "a boolean"
        case 0x6E: "null"
        default: "a number"
        }
    }
}
