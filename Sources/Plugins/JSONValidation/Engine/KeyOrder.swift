import ErrandJSONSyntax

/// The keys of an object that was read before at the same place, in their order. They are known to differ, so that an object
/// with some of them in the same order has no key twice: none has to be stored.
///
/// A place is that of a value in the objects and arrays around it: elements of an array share one, and the members of an object
/// have a few, by their keys. Nothing follows from two values having the same place but that they may look alike.
struct KeyOrder: BitwiseCopyable {
    /// The most keys, as an object has a bit for each in a word.
    static let maximumKeys = 64
    /// How many keys are compared to find the current one; what lies between is missing in the object.
    static let reach = 4
    /// The places of the values in an object.
    private static let placeBits: UInt64 = 3

    /// What all places use for which there is no order left; it never has keys.
    private let isCommon: Bool
    /// There is room for all of them, once there is one.
    private var keys: UnsafeMutablePointer<OrderedKey>?
    private(set) var count = 0
    /// How many objects in a row had other keys, or the same ones in another order.
    private var misses = 0
    private var places: UnsafeMutablePointer<UnsafeMutablePointer<KeyOrder>?>

    init(isCommon: Bool) {
        self.isCommon = isCommon
        let count = 1 << Int(Self.placeBits)
        places = .allocate(capacity: count)
        places.initialize(repeating: nil, count: count)
    }

    func deallocate() {
        keys?.deallocate()
        places.deallocate()
    }

    /// The order of objects in the member whose key starts here.
    @inline(__always) func place(_ quote: BytePointer, _ end: BytePointer)
        -> UnsafeMutablePointer<UnsafeMutablePointer<KeyOrder>?>
    {
        guard end - quote > 8 else { return places }
        // The bytes in front of the first quote.
        let word = Bytes.word(quote + 1)
        let others = word ^ 0x2222_2222_2222_2222
        let quotes = (others &- 0x0101_0101_0101_0101) & ~others & 0x8080_8080_8080_8080
        let text = word & ((quotes & (0 &- quotes)) >> 7 &- 1)
        return places + Int(truncatingIfNeeded: (text &* 0x9E37_79B9_7F4A_7C15) >> (64 - Self.placeBits))
    }

    @inline(__always) func key(_ index: Int) -> OrderedKey { keys.unsafelyUnwrapped[index] }

    /// Whether the text continues with this key and its closing quote; at least 16 bytes are left.
    @inline(__always) func isKey(_ index: Int, _ p: BytePointer, _ end: BytePointer) -> Bool {
        index < count && keys.unsafelyUnwrapped[index].starts(p, end)
    }

    // MARK: Learning

    /// Notes that an object had these keys.
    @inline(__always) mutating func hit() { misses = 0 }

    /// Notes that an object had others; whether its keys are to replace these. If no object looks like another, few do.
    mutating func miss() -> Bool {
        misses &+= 1
        return !isCommon && misses & (misses &- 1) == 0
    }

    mutating func replace(count: Int, by key: (Int) -> OrderedKey) {
        let room = keys ?? .allocate(capacity: Self.maximumKeys)
        for index in 0..<count { (room + index).initialize(to: key(index)) }
        (keys, self.count) = (room, count)
    }
}
