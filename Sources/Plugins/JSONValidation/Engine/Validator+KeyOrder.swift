import ErrandJSONSyntax

/// Objects without constraints: their keys are compared with those of another object before they are stored.
extension Validator {
    typealias OrderPointer = UnsafeMutablePointer<KeyOrder>

    /// The most orders, which take 4 KB each.
    private static let maximumOrders = 64

    /// The order of the objects at the place of a value in a frame.
    @inline(__always) mutating func order(in frame: UnsafeMutablePointer<Frame>) -> OrderPointer {
        guard let order = frame.pointee.order else { return orders.first ?? makeOrder() }
        if !frame.pointee.isObject { return order }
        let place = order.pointee.place(frame.pointee.key, end)
        if let known = place.pointee { return known }
        let made = makeOrder()
        place.pointee = made
        return made
    }

    /// No value has the order of one that it is within, except for the last order, which stays empty: the keys that are
    /// compared with an order do not change while an object is open.
    @inline(never) private mutating func makeOrder() -> OrderPointer {
        if orders.count == Self.maximumOrders, let last = orders.last { return last }
        let made = OrderPointer.allocate(capacity: 1)
        made.initialize(to: KeyOrder(isCommon: orders.count == Self.maximumOrders - 1))
        orders.append(made)
        return made
    }

    @inline(__always) mutating func beginOrder(_ frame: UnsafeMutablePointer<Frame>, _ order: OrderPointer) {
        frame.pointee.order = order
        frame.pointee.orderedBefore = orderedKeys
        // Keys that are not stored count as well; while this object has a key read, no object within it is open.
        let isNear = keys.count &+ orderedKeys &+ KeyOrder.maximumKeys > keys.limit
        frame.pointee.member = order.pointee.count == 0 || isNear ? -1 : 0
    }

    /// Whether the text continues with the next key of the order.
    @inline(__always) mutating func isOrdered(_ frame: UnsafeMutablePointer<Frame>, _ p: BytePointer) -> Bool {
        guard frame.pointee.rule == nil, frame.pointee.member >= 0, end - p > 16, let order = frame.pointee.order else {
            return false
        }
        return order.pointee.isKey(frame.pointee.member, p + 1, end)
    }

    /// Takes the key of the order with this index; returns the length of its text.
    @inline(__always) mutating func takeOrdered(_ frame: UnsafeMutablePointer<Frame>, _ index: Int) -> Int {
        frame.pointee.seen |= 1 << UInt64(index)
        frame.pointee.member = index &+ 1
        orderedKeys &+= 1
        return frame.pointee.order.unsafelyUnwrapped.pointee.key(index).length
    }

    /// Takes a later key of the order, if the text continues with one; otherwise stores the keys that were not stored.
    mutating func skipInOrder(_ frame: UnsafeMutablePointer<Frame>, _ p: BytePointer) -> BytePointer? {
        guard let order = frame.pointee.order, frame.pointee.member >= 0 else { return nil }
        let next = frame.pointee.member &+ 1
        if end - p > 16 {
            for index in next..<next &+ KeyOrder.reach where order.pointee.isKey(index, p + 1, end) {
                return p + takeOrdered(frame, index) + 2
            }
        }
        orderedKeys = frame.pointee.orderedBefore
        for index in 0..<frame.pointee.member where frame.pointee.seen >> UInt64(index) & 1 != 0 {
            let key = order.pointee.key(index)
            let hash = KeyHash.hash(key.text, hasEscapes: key.hasEscapes)
            _ = keys.insert(key.text, hasEscapes: key.hasEscapes, hash: hash, object: frame.pointee.object)
        }
        frame.pointee.member = -1
        return nil
    }

    /// Stores a key to find it again; those of an order, which are not stored, count as well.
    mutating func store(_ text: JSONText, hasEscapes: Bool, hash: UInt64, object: Int) -> ProbeOutcome {
        let outcome = keys.insert(text, hasEscapes: hasEscapes, hash: hash, object: object)
        return outcome == .new && keys.count &+ orderedKeys > keys.limit ? .full : outcome
    }

    @inline(__always) mutating func endOrder(_ frame: UnsafeMutablePointer<Frame>) {
        guard let order = frame.pointee.order else { return }
        if frame.pointee.member >= 0 {
            orderedKeys = frame.pointee.orderedBefore
            if frame.pointee.seen != 0 { order.pointee.hit() }
        } else if keys.count != frame.pointee.keysBefore {
            learn(frame, order)
        }
    }

    /// The keys that were stored for an object differ.
    @inline(never) private mutating func learn(_ frame: UnsafeMutablePointer<Frame>, _ order: OrderPointer) {
        let first = frame.pointee.keysBefore
        guard order.pointee.miss(), keys.count - first <= KeyOrder.maximumKeys else { return }
        order.pointee.replace(count: keys.count - first) { keys.key(first + $0) }
    }
}
