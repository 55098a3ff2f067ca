import ErrandSupport

/// A buffer for received bytes that aren't consumed yet.
struct InputBuffer {
    private var bytes: [UInt8] = []
    private var start = 0
    private var end = 0
    /// The position up to which the buffer has been searched for the end of a head.
    private var searched = 0

    var count: Int { end - start }
    var isEmpty: Bool { start == end }
    var first: UInt8? { isEmpty ? nil : bytes[start] }

    mutating func removeAll() { (start, end, searched) = (0, 0, 0) }

    /// Reads up to 64 KiB from a socket. Returns the number of bytes, which is 0 at the end of the connection. Returns
    /// `nil` if the connection failed.
    mutating func fill(from socket: Int32) -> Int? {
        if start > 0 {
            if !isEmpty {
                bytes.removeFirst(start)
                bytes += repeatElement(0, count: start)
            }
            (start, end, searched) = (0, end - start, max(0, searched - start))
        }
        if bytes.count - end < 4096 {
            bytes += [UInt8](repeating: 0, count: max(16 << 10, min(bytes.count, 256 << 10)))
        }
        let count = POSIX.receive(socket, into: &bytes, from: end)
        end += count ?? 0
        return count
    }

    /// Skips empty lines, because they may precede a request (RFC 9112, section 2.2).
    mutating func skipLineEnds() {
        while end - start >= 2, bytes[start] == 0x0D, bytes[start + 1] == 0x0A { start += 2 }
        searched = max(searched, start)
    }

    /// Removes and parses a head. Returns `nil` if the empty line after the head hasn't arrived yet.
    mutating func takeHead<Head>(limit: Int, _ parse: (ArraySlice<UInt8>) throws -> Head) throws -> Head? {
        guard let stop = emptyLine() else {
            if count > limit { throw RequestFault(431, "the head is longer than this server accepts") }
            searched = max(start, end - 3)
            return nil
        }
        if stop - start > limit { throw RequestFault(431, "the head is longer than this server accepts") }
        defer { (start, searched) = (stop + 2, stop + 2) }
        return try parse(bytes[start..<stop])
    }

    /// Finds the empty line after the head. Also finds two LFs without CRs, so parsing can reject them.
    private func emptyLine() -> Int? {
        var position = max(start, searched)
        while position < end, let index = bytes.withSpan({ $0.firstIndex(of: 0x0A, in: position..<end) }) {
            if index + 2 < end, bytes[index + 1] == 0x0D, bytes[index + 2] == 0x0A { return index + 1 }
            if index + 1 < end, bytes[index + 1] == 0x0A { return index + 1 }
            position = index + 1
        }
        return nil
    }

    mutating func takeLine(limit: Int) throws -> [UInt8]? {
        guard let feed = bytes[start..<end].firstIndex(of: 0x0A) else {
            if count > limit { throw RequestFault(400, "a line between the body's chunks is too long") }
            return nil
        }
        guard feed > start, bytes[feed - 1] == 0x0D, feed - 1 - start <= limit else {
            throw RequestFault(400, "expected a chunk's line that ends with CR and LF")
        }
        defer { start = feed + 1 }
        return Array(bytes[start..<(feed - 1)])
    }

    mutating func take(upTo limit: Int, _ body: (Span<UInt8>) -> Int) -> Int {
        let stop = start + min(limit, end - start)
        defer { start = stop }
        return bytes.withSpan { body($0.extracting(start..<stop)) }
    }
}
