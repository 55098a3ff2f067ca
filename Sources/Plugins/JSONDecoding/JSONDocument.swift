import ErrandEssentials
import ErrandHTTPSyntax

/// A text with its index and the settings of its decoder: what all frames of a decoding share.
final class JSONDocument {
    let options: FastJSONDecoder
    let userInfo: [CodingUserInfoKey: Any]
    /// Whether keys are converted before they are compared.
    let convertsKeys: Bool
    let entries: UnsafeMutablePointer<IndexEntry>
    @exclusivity(unchecked) private(set) var text: UnsafePointer<UInt8>
    private let count: Int
    private var copy: UnsafeMutablePointer<UInt8>?

    init(_ text: UnsafeBufferPointer<UInt8>, options: FastJSONDecoder) throws {
        guard let start = text.baseAddress else { throw IndexBuilder.empty.decodingError }
        do throws(JSONDecodingError) { entries = try IndexBuilder.index(start, text.count) } catch {
            throw error.decodingError
        }
        (self.text, count, self.options) = (start, text.count, options)
        if options.userInfo.isEmpty { userInfo = [:] } else { userInfo = options.userInfo }
        if case .useDefaultKeys = options.keyDecodingStrategy { convertsKeys = false } else { convertsKeys = true }
    }

    deinit {
        entries.deallocate()
        copy?.deallocate()
    }

    /// Copies the text, whose owner is about to release it.
    func keepText() {
        guard copy == nil else { return }
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
        bytes.initialize(from: text, count: count)
        (copy, text) = (bytes, UnsafePointer(bytes))
    }

    /// The entry at a position of the index.
    @inline(__always) subscript(position: Int) -> IndexEntry { entries[position] }

    /// The position behind a value and all that it contains.
    @inline(__always) func next(after position: Int) -> Int { position + entries[position].span }

    @inline(__always) func start(_ entry: IndexEntry) -> UnsafePointer<UInt8> { text + entry.start }

    /// The number of an entry.
    func number(_ entry: IndexEntry) -> JSONNumber {
        JSONNumber(start: start(entry), end: start(entry) + entry.length)
    }

    // MARK: Values; nil for one of another kind, or beyond the range

    @inline(__always) func bool(at position: Int) -> Bool? {
        let entry = entries[position]
        if entry.isKind(.true) { return true }
        return entry.isKind(.false) ? false : nil
    }

    func string(at position: Int) -> String? {
        let entry = entries[position]
        if entry.isKind(.string) {
            return String(decoding: UnsafeBufferPointer(start: start(entry), count: entry.length), as: UTF8.self)
        }
        guard entry.isKind(.escapedString) else { return nil }
        return Unescaping.string(start(entry), start(entry) + entry.length)
    }

    /// An integer of digits only; `number` has the value of any other.
    func integer<Value: FixedWidthInteger>(_ type: Value.Type, at position: Int) -> Value? {
        let entry = entries[position]
        guard entry.isKind(.integer) else { return nil }
        var p = start(entry)
        let end = p + entry.length
        let isNegative = p.pointee == 0x2D
        if isNegative { p += 1 }
        // Nineteen digits fit.
        guard end - p < 20 else { return nil }
        var magnitude: UInt64 = 0
        while p < end {
            magnitude = magnitude &* 10 &+ UInt64(truncatingIfNeeded: p.pointee &- 0x30)
            p += 1
        }
        if !isNegative { return Value(exactly: magnitude) }
        return magnitude <= 1 << 63 ? Value(exactly: Int64(truncatingIfNeeded: 0 &- magnitude)) : nil
    }

    func double(at position: Int) -> Double? {
        let entry = entries[position]
        guard entry.isKind(.integer) || entry.isKind(.number) else { return nil }
        let value = number(entry).double
        return value.isNormal ? value : nil
    }

    func float(at position: Int) -> Float? {
        let entry = entries[position]
        guard entry.isKind(.integer) || entry.isKind(.number) else { return nil }
        let value = number(entry).float
        return value.isNormal ? value : nil
    }

    /// The elements of an array of which all can be read; nil if one cannot.
    @inline(__always) func array<Element>(at position: Int, _ read: (Int) -> Element?) -> [Element]? {
        guard entries[position].isKind(.array) else { return nil }
        let end = position + entries[position].length
        var elements: [Element] = []
        elements.reserveCapacity(end - position - 1)
        for element in position + 1..<end {
            guard let value = read(element) else { return nil }
            elements.append(value)
        }
        return elements
    }
}
