package import ErrandJSONSyntax
import ErrandMessageSyntax

/// The common part of the validators for shapes and schemas.
package protocol TextValidator: ~Copyable {
    var limits: JSONLimits { get }
    var problems: ProblemList { get set }

    /// The position of a frame's current value: the quote of its key, or its index in an array.
    func position(_ level: Int) -> ValuePosition
}

package enum ValuePosition {
    case key(Int)
    case index(Int)
}

extension TextValidator where Self: ~Copyable {
    package mutating func firstByte(_ text: Span<UInt8>) -> Int? {
        if text.count > limits.maximumBytes {
            problems.stop(
                .limit, pointer: "", expected: "at most \(limits.maximumBytes) bytes", found: "\(text.count)",
                offset: limits.maximumBytes)
            return nil
        }
        var p = 0
        // A parser may ignore a byte order mark (RFC 8259, section 8.1).
        if text.count >= 3, text[0] == 0xEF, text[1] == 0xBB, text[2] == 0xBF { p += 3 }
        p = JSONGrammar.skipSpace(in: text, from: p)
        if p < text.count { return p }
        stop(text, .empty, at: p, depth: 0)
        return nil
    }

    @inline(never) package mutating func stop(_ text: Span<UInt8>, _ fault: JSONFault, at p: Int, depth: Int) {
        problems.stop(
            .syntax, pointer: pointer(text, depth), expected: fault.expected, found: fault.found(in: text, at: p),
            offset: p)
    }

    package mutating func tooDeep(_ text: Span<UInt8>, at p: Int, depth: Int) {
        problems.stop(
            .limit, pointer: pointer(text, depth), expected: "at most \(limits.maximumDepth) levels", found: "more",
            offset: p)
    }

    package mutating func tooManyKeys(_ text: Span<UInt8>, at p: Int, depth: Int) {
        problems.stop(
            .limit, pointer: pointer(text, depth), expected: "at most \(limits.maximumKeys) keys in open objects",
            found: "more",
            offset: p)
    }

    package mutating func tooMuchMemory(_ text: Span<UInt8>, at p: Int, depth: Int) {
        problems.stop(
            .limit, pointer: pointer(text, depth),
            expected: "a document whose validation needs at most \(limits.maximumMemoryBytes) bytes of memory",
            found: "one that needs more",
            offset: p)
    }

    package var tooManySteps: (expected: String, found: String) {
        ("a document whose validation needs at most \(limits.maximumSteps) steps", "one that needs more")
    }

    /// The current value is inside `depth` open arrays and objects.
    package func pointer(_ text: Span<UInt8>, _ depth: Int) -> String {
        var pointer = ""
        for level in stride(from: 1, through: depth, by: 1) {
            switch position(level) {
            case .key(let quote): pointer = JSONPointer.appending(key(text, quote), to: pointer)
            case .index(let index): pointer = JSONPointer.appending("\(index)", to: pointer)
            }
        }
        return pointer
    }

    package func key(_ text: Span<UInt8>, _ quote: Int) -> String {
        guard quote < text.count, text[quote] == JSONGrammar.quote else { return "" }
        let scan = JSONGrammar.string(in: text, from: quote + 1)
        return scan.fault == .none ? JSONContent(quote + 1, scan.index - 1).string(in: text, limit: 256) : ""
    }

    package static func kindWord(_ first: UInt8) -> String {
        switch first {
        case JSONGrammar.quote: "a string"
        case JSONGrammar.openBrace: "an object"
        case JSONGrammar.openBracket: "an array"
        case UInt8(ascii: "t"), UInt8(ascii: "f"): "a boolean"
        case UInt8(ascii: "n"): "null"
        default: "a number"
        }
    }
}

/// JSON Pointers (RFC 6901). Long ones are cut off.
package enum JSONPointer {
    private static let limit = 1_024

    /// Escapes `~` and `/` (section 3). Appends an ellipsis instead if the pointer is long.
    package static func appending(_ token: String, to pointer: String) -> String {
        if pointer.utf8.count > limit { return pointer.hasSuffix("…") ? pointer : pointer + "/…" }
        var longer = pointer + "/"
        for scalar in token.unicodeScalars {
            switch scalar {
            case "~": longer += "~0"
            case "/": longer += "~1"
            default: longer.unicodeScalars.append(scalar)
            }
        }
        return longer
    }
}

package struct ProblemList {
    package let limit: Int
    private(set) var problems: [JSONProblem] = []
    package private(set) var count = 0
    /// Whether the text has a problem, even if all unjudged parts are valid.
    private var isCertain = false
    /// Whether a part of the text wasn't judged, because of a limit or an unusable shape. Derived problems are then
    /// uncertain.
    private(set) var hasUnjudged = false

    package init(limit: Int) { self.limit = max(1, limit) }

    package var isFull: Bool { problems.count >= limit }

    /// Records how a problem affects the verdict. A derived problem follows from the results of several parts or
    /// schemas. It's uncertain if one of these results may be missing.
    package mutating func note(_ kind: JSONProblem.Kind, isDerived: Bool = false) {
        if kind == .limit || kind == .shape {
            hasUnjudged = true
        } else if !isDerived || !hasUnjudged {
            isCertain = true
        }
    }

    package mutating func add(_ problem: @autoclosure () -> JSONProblem) {
        count += 1
        if !isFull { problems.append(problem()) }
    }

    package mutating func addUnlisted(_ more: Int) { count += more }

    /// Adds the problem that stops reading. In a full list, it replaces the last problem.
    package mutating func stop(_ kind: JSONProblem.Kind, pointer: String, expected: String, found: String, offset: Int)
    {
        note(kind)
        if isFull { problems.removeLast() }
        add(JSONProblem(kind: kind, pointer: pointer, expected: expected, found: found, offset: offset))
    }

    package var error: JSONValidationError? {
        if count == 0 { return nil }
        return JSONValidationError(problems: problems, count: count, verdict: isCertain ? .doesNotFit : .notJudged)
    }
}

/// A stack of the frames around the innermost frame. Frames are trivial, so a popped frame stays in memory until
/// another replaces it.
@usableFromInline package struct FrameStack<Frame: BitwiseCopyable & Sendable>: Sendable {
    @usableFromInline var frames: [Frame]
    @usableFromInline package var count = 0

    package init(repeating frame: Frame) { frames = Array(repeating: frame, count: 16) }

    package var capacity: Int { frames.count }

    @inlinable @inline(__always) package var last: Frame { frames[count &- 1] }

    @inlinable package subscript(level: Int) -> Frame { frames[level] }

    @inlinable @inline(__always) package mutating func push(_ frame: Frame) {
        if count == frames.count { grow() }
        frames[count] = frame
        count &+= 1
    }

    @inlinable @inline(__always) package mutating func pop() -> Frame {
        count &-= 1
        return frames[count]
    }

    package mutating func truncate(to count: Int) { self.count = min(count, self.count) }

    @usableFromInline @inline(never) mutating func grow() { frames += frames }
}

// Here and in the other files of this folder, other modules of the package inline an `@inlinable` member only if its
// type is `@usableFromInline`.

/// One bit per kind of values. The first byte of a value distinguishes all kinds except the two kinds of numbers.
@usableFromInline package enum ValueKind {
    @inlinable package static var null: UInt8 { 1 }
    @inlinable package static var `false`: UInt8 { 2 }
    @inlinable package static var `true`: UInt8 { 4 }
    /// Without a fraction and an exponent.
    @inlinable package static var integer: UInt8 { 8 }
    @inlinable package static var fraction: UInt8 { 16 }
    @inlinable package static var string: UInt8 { 32 }
    @inlinable package static var array: UInt8 { 64 }
    @inlinable package static var object: UInt8 { 128 }
    @inlinable package static var boolean: UInt8 { `true` | `false` }
    @inlinable package static var number: UInt8 { integer | fraction }
    @inlinable package static var all: UInt8 { 255 }

    @inlinable @inline(__always) package static func ofLiteral(_ byte: UInt8) -> UInt8 {
        byte == UInt8(ascii: "t") ? `true` : byte == UInt8(ascii: "f") ? `false` : null
    }
}

package enum MessageText {
    /// For example, "at least 1 element" or "2 to 4 elements".
    package static func counted(_ amount: String, _ noun: String) -> String {
        amount == "1" || amount.hasSuffix(" 1") ? "\(amount) \(noun)" : "\(amount) \(noun)s"
    }

    /// Escapes control characters, line separators and bidirectional formatting. The limit is in scalars.
    package static func shown(_ text: String, limit: Int) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: limit, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return ControlCharacters.escaped(text) }
        return ControlCharacters.escaped(String(scalars[..<end])) + "…"
    }

    package static func list(_ words: [String]) -> String {
        guard let last = words.last else { return "nothing" }
        return words.count == 1 ? last : words.dropLast().joined(separator: ", ") + " or " + last
    }
}
