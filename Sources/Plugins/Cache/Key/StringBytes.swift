import ErrandSupport

extension String {
    /// Calls the body with the bytes of the text: a loop over them costs a tenth of one over `utf8`.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var text = self
        return text.withUTF8(body)
    }

    /// The texts, one behind the other: costs half of appending them.
    init(_ first: String, _ second: String, _ third: String = "") {
        let (start, end) = (first.utf8.count, first.utf8.count + second.utf8.count)
        let count = end + third.utf8.count
        self.init(unsafeUninitializedCapacity: count) { room in
            first.copy(to: room, at: 0)
            second.copy(to: room, at: start)
            third.copy(to: room, at: end)
            return count
        }
    }

    private func copy(to room: UnsafeMutableBufferPointer<UInt8>, at offset: Int) {
        withBytes { bytes in
            guard let from = bytes.baseAddress, let to = room.baseAddress else { return }
            memcpy(to + offset, from, bytes.count)
        }
    }

    /// Whether the text contains an ASCII character.
    func holds(_ character: Unicode.Scalar) -> Bool {
        withBytes { bytes in
            bytes.baseAddress.map { memchr($0, Int32(character.value), bytes.count) != nil } ?? false
        }
    }

    /// Compares byte by byte: Unicode's canonical equivalence does not apply to keys and field values.
    func hasSameBytes(as other: String) -> Bool {
        withBytes { mine in
            other.withBytes { theirs in
                guard mine.count == theirs.count, let a = mine.baseAddress, let b = theirs.baseAddress else {
                    return mine.count == theirs.count
                }
                return memcmp(a, b, mine.count) == 0
            }
        }
    }
}
