import ErrandJSONSyntax

/// The keys of objects that were read before at the same place, in their order. They are known to differ, so that an object
/// with some of them in the same order has no key twice: none has to be stored.
///
/// A place is that of a value in the objects and arrays around it: elements of an array share one, and the members of an object
/// have a few, by their keys. Nothing follows from two values having the same place but that they may look alike.
struct KeyOrders {
    /// The most keys of an order, as an object has a bit for each in a word.
    static let maximumKeys = 64
    /// How many keys are compared to find the current one; what lies between is missing in the object.
    static let reach = 4
    /// The most orders, which take 4 KB each.
    private static let maximumOrders = 64
    /// The places of the values in an object.
    private static let placeBits: UInt64 = 3

    private struct Order {
        /// Where its keys are, once it has any; there is room for all of them then.
        var firstKey = -1
        var count = 0
        /// How many objects in a row had other keys, or the same ones in another order.
        var misses = 0
    }

    private var orders: [Order] = []
    private var keys: [OrderedKey] = []
    /// For each order the orders of the places in its objects; -1 where none was needed yet.
    private var places: [Int32] = []

    /// The order of objects that are in none.
    mutating func first() -> Int32 { orders.isEmpty ? make() : 0 }

    /// The order of objects in a member of an object with an order; the key of the member starts at this quote.
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
        // The bytes in front of the first quote.
        let word = Bytes.word(text, quote &+ 1)
        let others = word ^ 0x2222_2222_2222_2222
        let quotes = (others &- 0x0101_0101_0101_0101) & ~others & 0x8080_8080_8080_8080
        let key = word & ((quotes & (0 &- quotes)) >> 7 &- 1)
        return Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> (64 - placeBits))
    }

    /// No value has the order of one that it is within, except for the last order, which stays empty: the keys that are
    /// compared with an order do not change while an object is open.
    @inline(never) private mutating func make() -> Int32 {
        if orders.count < Self.maximumOrders {
            orders.append(Order())
            places += [Int32](repeating: -1, count: 1 << Int(Self.placeBits))
        }
        return Int32(orders.count - 1)
    }

    /// Where the keys of an order are; they stay there.
    @inline(__always) func keys(of order: Int32) -> (first: Int, count: Int) {
        let order = orders[Int(order)]
        return (order.firstKey, order.count)
    }

    @inline(__always) func key(at place: Int) -> OrderedKey { keys[place] }

    /// The length of a key, if the text continues with it and its closing quote; at least 16 bytes are left.
    @inline(__always) func length(ofKeyAt place: Int, _ text: Span<UInt8>, _ p: Int) -> Int? {
        let key = keys[place]
        return key.starts(text, p) ? key.length : nil
    }

    // MARK: Learning

    /// Notes that an object had the keys of the order.
    @inline(__always) mutating func hit(_ order: Int32) { orders[Int(order)].misses = 0 }

    /// Notes that an object had others; whether its keys are to replace these. If no object looks like another, few do.
    mutating func miss(_ order: Int32) -> Bool {
        orders[Int(order)].misses &+= 1
        let misses = orders[Int(order)].misses
        // What all places share for which there is no order left never has keys.
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

/// A key of an object that was read before, prepared for comparison: its first 16 bytes with the closing quote, and its place
/// in the text.
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

    /// Equal bytes up to the closing quote are an equal key, whatever escapes it has.
    @inline(__always) func starts(_ text: Span<UInt8>, _ p: Int) -> Bool {
        guard Bytes.word(text, p) & mask0 == word0, Bytes.word(text, p &+ 8) & mask1 == word1 else { return false }
        return content.count < 16 || Self.isLong(content, text, p)
    }

    @inline(never) private static func isLong(_ content: JSONContent, _ text: Span<UInt8>, _ p: Int) -> Bool {
        text.count - p > content.count && text[p + content.count] == JSONGrammar.quote
            && Bytes.equal(text, p, text, content.start, count: content.count)
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
