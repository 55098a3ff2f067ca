import ErrandSupport

extension String {
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
}
