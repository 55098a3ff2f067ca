import ErrandJSONSyntax

/// Handles objects without constraints: compares their keys with an earlier object's before storing them.
extension Validator {
    /// Returns the order for objects at the place of a value in the innermost frame.
    @inline(__always) mutating func order(of text: Span<UInt8>) -> Int32 {
        if frame.order < 0 { return orders.first() }
        return frame.isObject ? orders.order(in: frame.order, text, frame.key) : frame.order
    }

    @inline(__always) mutating func beginOrder() {
        frame.orderedBefore = orderedKeys
        // Keys that aren't stored count as well. While this object reads a key, no object inside it is open.
        let isNear = keys.count &+ orderedKeys &+ KeyOrders.maximumKeys > keys.limit
        let (first, count) = orders.keys(of: frame.order)
        (frame.firstKey, frame.orderedCount) = (Int32(truncatingIfNeeded: first), Int32(truncatingIfNeeded: count))
        frame.member = count == 0 || isNear ? -1 : 0
    }

    /// Takes the next key of the order if the text continues with it. Returns the length of its text.
    @inline(__always) mutating func takeOrdered(_ text: Span<UInt8>, _ p: Int) -> Int? {
        guard frame.member >= 0, text.count &- p > 16 else { return nil }
        return takeOrdered(Int(frame.member), text, p)
    }

    /// Takes the key at an index of the order if the text continues with it. At least 17 bytes must be left.
    @inline(__always) private mutating func takeOrdered(_ index: Int, _ text: Span<UInt8>, _ p: Int) -> Int? {
        guard index < Int(frame.orderedCount),
            let length = orders.length(ofKeyAt: Int(frame.firstKey) &+ index, text, p &+ 1)
        else { return nil }
        frame.seen |= 1 &<< UInt64(truncatingIfNeeded: index)
        frame.member = Int32(truncatingIfNeeded: index &+ 1)
        orderedKeys &+= 1
        return length
    }

    /// Takes a later key of the order if the text continues with one. Otherwise, stores the keys that weren't stored.
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

    /// Stores a key to find duplicates. The limit also counts keys that follow an order, which aren't stored.
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

    /// Learns the stored keys of an object, which are all different.
    @inline(never) private mutating func learn(_ text: Span<UInt8>) {
        let new = frame.keysBefore..<keys.count
        guard orders.miss(frame.order), new.count <= KeyOrders.maximumKeys else { return }
        orders.replace(frame.order, new.map { keys.key($0, in: text) })
    }
}
