import ErrandJSONSyntax

/// Objects without constraints: their keys are compared with those of another object before they are stored.
extension Validator {
    /// The order of the objects at the place of a value in the innermost frame.
    @inline(__always) mutating func order(of text: Span<UInt8>) -> Int32 {
        if frame.order < 0 { return orders.first() }
        return frame.isObject ? orders.order(in: frame.order, text, frame.key) : frame.order
    }

    @inline(__always) mutating func beginOrder() {
        frame.orderedBefore = orderedKeys
        // Keys that are not stored count as well; while this object has a key read, no object within it is open.
        let isNear = keys.count &+ orderedKeys &+ KeyOrders.maximumKeys > keys.limit
        let (first, count) = orders.keys(of: frame.order)
        (frame.firstKey, frame.orderedCount) = (Int32(truncatingIfNeeded: first), Int32(truncatingIfNeeded: count))
        frame.member = count == 0 || isNear ? -1 : 0
    }

    /// Takes the next key of the order, if the text continues with it; returns the length of its text.
    @inline(__always) mutating func takeOrdered(_ text: Span<UInt8>, _ p: Int) -> Int? {
        guard frame.member >= 0, text.count &- p > 16 else { return nil }
        return takeOrdered(Int(frame.member), text, p)
    }

    /// Takes the key of the order with this index, if the text continues with it; at least 17 bytes are left.
    @inline(__always) private mutating func takeOrdered(_ index: Int, _ text: Span<UInt8>, _ p: Int) -> Int? {
        guard index < Int(frame.orderedCount),
            let length = orders.length(ofKeyAt: Int(frame.firstKey) &+ index, text, p &+ 1)
        else { return nil }
        frame.seen |= 1 &<< UInt64(truncatingIfNeeded: index)
        frame.member = Int32(truncatingIfNeeded: index &+ 1)
        orderedKeys &+= 1
        return length
    }

    /// Takes a later key of the order, if the text continues with one; otherwise stores the keys that were not stored.
    mutating func skipInOrder(_ text: Span<UInt8>, _ p: Int) -> Int? {
        guard frame.order >= 0, frame.member >= 0 else { return nil }
        let next = Int(frame.member) + 1
        if text.count - p > 16 {
            for index in next..<next + KeyOrders.reach {
                if let length = takeOrdered(index, text, p) { return p + length + 2 }
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

    /// Stores a key to find it again; those of an order, which are not stored, count as well.
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

    /// The keys that were stored for an object differ.
    @inline(never) private mutating func learn(_ text: Span<UInt8>) {
        let new = frame.keysBefore..<keys.count
        guard orders.miss(frame.order), new.count <= KeyOrders.maximumKeys else { return }
        orders.replace(frame.order, new.map { keys.key($0, in: text) })
    }
}
