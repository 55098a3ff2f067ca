import ErrandJSONSyntax

/// Finds duplicate keys without storing every key. An order is the list of different keys that an earlier object at the
/// same place had. If a later object has only keys from this list, in the same order, it can't have duplicates, so its
/// keys aren't stored.
///
/// A place is a value's position in the arrays and objects around it. The elements of an array share a place. The
/// members of an object share a few places, by key.
struct KeyOrders {
    /// A frame has one bit per key in a 64-bit word.
    static let maximumKeys = 64
    /// The number of later keys in the order to compare a key with, if it isn't the next key.
    static let reach = 4
    /// Orders take 4 KB each.
    private static let maximumOrders = 64
    private static let placeBits: UInt64 = 3

    private struct Order {
        /// -1 without keys. There is room for `maximumKeys`.
        var firstKey = -1
        var count = 0
        /// The number of consecutive objects with other keys or another order of them.
        var misses = 0
    }

    private var orders: [Order] = []
    private var keys: [OrderedKey] = []
    /// The orders of the places inside each order's objects, or -1 if not needed yet.
    private var places: [Int32] = []

    /// For objects inside a frame without an order.
    mutating func first() -> Int32 { orders.isEmpty ? make() : 0 }

    /// `quote` is the opening quote of the member's key.
    @inline(__always) mutating func order(in order: Int32, _ text: Span<UInt8>, _ quote: Int) -> Int32 {
        let place = Int(order) << Int(Self.placeBits) &+ Self.place(text, quote)
        let known = places[place]
        if known >= 0 { return known }
        let made = make()
        places[place] = made
        return made
    }

    @inline(__always) private static func place(_ text: Span<UInt8>, _ quote: Int) -> Int {
        guard text.count &- quote > 8 else { return 0 }
        // The bytes of the key before its closing quote.
        let word = Bytes.word(text, quote &+ 1)
        let others = word ^ 0x2222_2222_2222_2222
        let quotes = (others &- 0x0101_0101_0101_0101) & ~others & 0x8080_8080_8080_8080
        let key = word & ((quotes & (0 &- quotes)) >> 7 &- 1)
        // Fibonacci hashing: the highest bits of the product depend on all bytes of the key.
        return Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> (64 - placeBits))
    }

    /// Creates an order, or returns the last order if the maximum is reached. Only the last order is shared, and it
    /// stays empty. All other orders belong to a single place, so a nested value never has the order of an enclosing
    /// value, and an order's keys don't change while an object is compared with them.
    @inline(never) private mutating func make() -> Int32 {
        if orders.count < Self.maximumOrders {
            orders.append(Order())
            places += [Int32](repeating: -1, count: 1 << Int(Self.placeBits))
        }
        return Int32(orders.count - 1)
    }

    @inline(__always) func keys(of order: Int32) -> (first: Int, count: Int) {
        let order = orders[Int(order)]
        return (order.firstKey, order.count)
    }

    @inline(__always) func key(at place: Int) -> OrderedKey { keys[place] }

    /// Returns `nil` if the text continues with another key. At least 16 bytes must be left.
    @inline(__always) func length(ofKeyAt place: Int, _ text: Span<UInt8>, _ p: Int) -> Int? {
        let key = keys[place]
        return key.starts(text, p) ? key.length : nil
    }

    // MARK: Learning

    @inline(__always) mutating func hit(_ order: Int32) { orders[Int(order)].misses = 0 }

    /// Returns whether the object's keys should replace the order's keys. The more consecutive objects differ, the
    /// rarer this is.
    mutating func miss(_ order: Int32) -> Bool {
        orders[Int(order)].misses &+= 1
        let misses = orders[Int(order)].misses
        return order < Self.maximumOrders - 1 && misses & (misses &- 1) == 0
    }

    mutating func replace(_ order: Int32, _ new: [OrderedKey]) {
        guard let blank = new.first, new.count <= Self.maximumKeys else { return }
        if orders[Int(order)].firstKey < 0 {
            orders[Int(order)].firstKey = keys.count
            keys += [OrderedKey](repeating: blank, count: Self.maximumKeys)
        }
        for (index, key) in new.enumerated() { keys[orders[Int(order)].firstKey + index] = key }
        orders[Int(order)].count = new.count
    }
}

/// A key of an earlier object, prepared for comparison: its first 16 bytes with the closing quote, and its position.
struct OrderedKey: BitwiseCopyable {
    private let word0: UInt64
    private let mask0: UInt64
    private let word1: UInt64
    private let mask1: UInt64
    let content: JSONContent
    let hasEscapes: Bool

    init(_ content: JSONContent, in text: Span<UInt8>, hasEscapes: Bool) {
        (self.content, self.hasEscapes) = (content, hasEscapes)
        (word0, mask0) = Self.word(content, in: text, from: 0)
        (word1, mask1) = Self.word(content, in: text, from: 8)
    }

    var length: Int { content.count }

    /// Escapes aren't resolved, because keys with equal bytes are always equal.
    @inline(__always) func starts(_ text: Span<UInt8>, _ p: Int) -> Bool {
        guard Bytes.word(text, p) & mask0 == word0, Bytes.word(text, p &+ 8) & mask1 == word1 else { return false }
        return content.count < 16 || Self.isLong(content, in: text, at: p)
    }

    @inline(never) private static func isLong(_ content: JSONContent, in text: Span<UInt8>, at p: Int) -> Bool {
        text.count - p > content.count && text[p + content.count] == JSONGrammar.quote
            && Bytes.equal(text, at: p, to: text, at: content.start, count: content.count)
    }

    private static func word(_ content: JSONContent, in text: Span<UInt8>, from start: Int) -> (UInt64, UInt64) {
        var (word, mask): (UInt64, UInt64) = (0, 0)
        for index in 0..<8 where start + index <= content.count {
            word |= UInt64(text[content.start + start + index]) << UInt64(8 * index)
            mask |= 0xFF << UInt64(8 * index)
        }
        return (word, mask)
    }
}

extension ShapeValidator {
    @inline(__always) mutating func order(of text: Span<UInt8>) -> Int32 {
        if frame.order < 0 { return orders.first() }
        return frame.isObject ? orders.order(in: frame.order, text, frame.key) : frame.order
    }

    @inline(__always) mutating func beginOrder() {
        frame.orderedBefore = orderedKeys
        // Keys that follow an order also count toward the limit, and this object can add up to `maximumKeys` of them.
        // Near the limit, its keys are therefore stored.
        let isNear = keys.count &+ orderedKeys &+ KeyOrders.maximumKeys > keys.limit
        let (first, count) = orders.keys(of: frame.order)
        (frame.firstKey, frame.orderedCount) = (Int32(truncatingIfNeeded: first), Int32(truncatingIfNeeded: count))
        frame.member = count == 0 || isNear ? -1 : 0
    }

    /// Returns the length of the key's text if it's the next key of the order.
    @inline(__always) mutating func takeOrdered(in text: Span<UInt8>, at p: Int) -> Int? {
        guard frame.member >= 0, text.count &- p > 16 else { return nil }
        return takeOrdered(Int(frame.member), in: text, at: p)
    }

    /// At least 17 bytes must be left.
    @inline(__always) private mutating func takeOrdered(_ index: Int, in text: Span<UInt8>, at p: Int) -> Int? {
        guard index < Int(frame.orderedCount),
            let length = orders.length(ofKeyAt: Int(frame.firstKey) &+ index, text, p &+ 1)
        else { return nil }
        frame.seen |= 1 &<< UInt64(truncatingIfNeeded: index)
        frame.member = Int32(truncatingIfNeeded: index &+ 1)
        orderedKeys &+= 1
        return length
    }

    /// Takes a later key of the order, or stores the keys that weren't stored so far.
    mutating func skipInOrder(_ text: Span<UInt8>, _ p: Int) -> Int? {
        guard frame.order >= 0, frame.member >= 0 else { return nil }
        let next = Int(frame.member) + 1
        if text.count - p > 16 {
            for index in next..<next + KeyOrders.reach {
                if let length = takeOrdered(index, in: text, at: p) { return p + length + 2 }
            }
        }
        orderedKeys = frame.orderedBefore
        for index in 0..<Int(frame.member) where frame.seen >> UInt64(index) & 1 != 0 {
            let key = orders.key(at: Int(frame.firstKey) + index)
            let hash = KeyHash.hash(text, key.content, hasEscapes: key.hasEscapes)
            _ = keys.insert(text, key.content, hasEscapes: key.hasEscapes, hash: hash, object: frame.object)
        }
        frame.member = -1
        return nil
    }

    mutating func store(
        _ text: Span<UInt8>, _ content: JSONContent, hasEscapes: Bool, hash: UInt64, object: Int
    ) -> ProbeOutcome {
        let outcome = keys.insert(text, content, hasEscapes: hasEscapes, hash: hash, object: object)
        return outcome == .new && keys.count &+ orderedKeys > keys.limit ? .full : outcome
    }

    @inline(__always) mutating func endOrder(_ text: Span<UInt8>) {
        guard frame.order >= 0 else { return }
        if frame.member >= 0 {
            orderedKeys = frame.orderedBefore
            if frame.seen != 0 { orders.hit(frame.order) }
        } else if keys.count != frame.keysBefore {
            learn(text)
        }
    }

    @inline(never) private mutating func learn(_ text: Span<UInt8>) {
        let new = frame.keysBefore..<keys.count
        guard orders.miss(frame.order), new.count <= KeyOrders.maximumKeys else { return }
        orders.replace(frame.order, new.map { keys.key($0, in: text) })
    }
}
