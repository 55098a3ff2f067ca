import ErrandEssentials
import ErrandJSONSyntax

/// A text with its index and the settings of its decoder: what all frames of a decoding share.
final class JSONDocument {
    @exclusivity(unchecked) private(set) var options = JSONDocument.noOptions
    @exclusivity(unchecked) private(set) var userInfo: [CodingUserInfoKey: Any] = [:]
    /// Whether keys are converted before they are compared.
    @exclusivity(unchecked) private(set) var convertsKeys = false
    @exclusivity(unchecked) private var buffer: IndexBuffer
    @exclusivity(unchecked) private(set) var text: UnsafePointer<UInt8>
    @exclusivity(unchecked) private var count = 0
    private var copy: UnsafeMutablePointer<UInt8>?
    /// Whether short strings are read and made in their own words.
    let hasShortStrings = ShortString.isKnownLayout

    private static let noOptions = FastJSONDecoder()
    /// A larger index is not kept for the next text.
    private static let keptCapacity = 8_192

    /// A document without a text.
    init() {
        buffer = IndexBuffer()
        text = UnsafeRawPointer(buffer.entries).assumingMemoryBound(to: UInt8.self)
    }

    /// Checks a text, and makes its index.
    func read(_ text: UnsafeBufferPointer<UInt8>, options: FastJSONDecoder) throws {
        guard let start = text.baseAddress else { throw IndexBuilder.empty.decodingError }
        do throws(JSONDecodingError) { try IndexBuilder.index(start, text.count, into: &buffer) } catch {
            throw error.decodingError
        }
        (self.text, count, self.options) = (start, text.count, options)
        if !options.userInfo.isEmpty { userInfo = options.userInfo }
        if case .useDefaultKeys = options.keyDecodingStrategy { convertsKeys = false } else { convertsKeys = true }
    }

    /// Releases what belongs to the decoding that has ended.
    func clear() {
        options = Self.noOptions
        if !userInfo.isEmpty { userInfo = [:] }
        if buffer.capacity > Self.keptCapacity {
            buffer.entries.deallocate()
            buffer = IndexBuffer()
        }
    }

    deinit {
        buffer.entries.deallocate()
        copy?.deallocate()
    }

    /// Copies the text, whose owner is about to release it.
    func keepText() {
        guard copy == nil else { return }
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: count)
        bytes.initialize(from: text, count: count)
        (copy, text) = (bytes, UnsafePointer(bytes))
    }

    private var entries: UnsafeMutablePointer<IndexEntry> {
        @inline(__always) get { buffer.entries }
    }

    /// The entry at a position of the index.
    @inline(__always) subscript(position: Int) -> IndexEntry { entries[position] }

    /// The position behind a value and all that it contains.
    @inline(__always) func next(after position: Int) -> Int { position + entries[position].span }

    @inline(__always) func start(_ entry: IndexEntry) -> UnsafePointer<UInt8> { text + entry.start }

    /// Whether the text has eight bytes from the start of an entry on.
    @inline(__always) func hasWord(at entry: IndexEntry) -> Bool { entry.start &+ 8 <= count }

    /// The number of an entry.
    func number(_ entry: IndexEntry) -> JSONNumber {
        JSONNumber(start: start(entry), end: start(entry) + entry.length)
    }

    /// How many elements to reserve memory for before the first one is decoded: at most 64 KiB of them.
    ///
    /// Two bytes of a text are enough for an element, whatever size its type has, so the text must not decide how much is
    /// reserved. A longer array grows while its elements are decoded.
    @inline(__always) static func room<Element>(for count: Int, _ type: Element.Type) -> Int {
        min(count, (64 << 10) / max(1, MemoryLayout<Element>.stride))
    }

    // MARK: Values; nil for one of another kind, or beyond the range

    @inline(__always) func bool(at position: Int) -> Bool? {
        let entry = entries[position]
        if entry.isKind(.true) { return true }
        return entry.isKind(.false) ? false : nil
    }

    @inline(never) func string(at position: Int) -> String? {
        let entry = entries[position]
        let (text, count) = (start(entry), entry.length)
        if entry.isKind(.string) {
            if hasShortStrings, let short = ShortString.string(text, count) { return short }
            return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
        }
        return entry.isKind(.escapedString) ? Unescaping.string(text, text + count) : nil
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

    @inline(never) func double(at position: Int) -> Double? {
        let entry = entries[position]
        guard entry.isKind(.integer) || entry.isKind(.number) else { return nil }
        let number = number(entry)
        let value = number.double
        return value.isNormal || value == 0 && number.isZero ? value : nil
    }

    @inline(never) func float(at position: Int) -> Float? {
        let entry = entries[position]
        guard entry.isKind(.integer) || entry.isKind(.number) else { return nil }
        let number = number(entry)
        let value = number.float
        return value.isNormal || value == 0 && number.isZero ? value : nil
    }

    /// The elements of an array of which all can be read; nil if one cannot.
    @inline(__always) func array<Element>(at position: Int, _ read: (Int) -> Element?) -> [Element]? {
        guard entries[position].isKind(.array) else { return nil }
        let end = position + entries[position].length
        var elements: [Element] = []
        elements.reserveCapacity(Self.room(for: end - position - 1, Element.self))
        for element in position + 1..<end {
            guard let value = read(element) else { return nil }
            elements.append(value)
        }
        return elements
    }

    /// The members of an object of which all can be read; nil if one cannot.
    @inline(__always) func dictionary<Value>(at position: Int, _ read: (Int) -> Value?) -> [String: Value]? {
        guard entries[position].isObject else { return nil }
        var key = position + 1
        let end = position + entries[position].length
        // Half of the entries are values; an object with large ones in it has fewer.
        var values = [String: Value](minimumCapacity: min((end - key) / 2, 1_024))
        while key < end {
            guard let name = string(at: key), let value = read(key + 1) else { return nil }
            values.setIfAbsent(name, value)
            key += 2
        }
        return values
    }
}
