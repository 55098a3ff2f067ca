#if os(Linux)
/// Sockets by their local ports, of which several may have the same: in the order of the ports, since every request looks
/// for one, and few make one.
struct PortTable {
    private var sockets: [(port: UInt16, descriptor: Int32)] = []

    /// The socket at a place.
    subscript(index: Int) -> Int32 { sockets[index].descriptor }

    /// The places of a port's sockets.
    func range(of port: UInt16) -> Range<Int> {
        let start = place(of: port)
        var end = start
        while end < sockets.count, sockets[end].port == port { end += 1 }
        return start..<end
    }

    mutating func insert(_ descriptor: Int32, at port: UInt16) {
        sockets.insert((port, descriptor), at: range(of: port).upperBound)
    }

    mutating func remove(_ descriptor: Int32, at port: UInt16) {
        for index in range(of: port) where sockets[index].descriptor == descriptor {
            sockets.remove(at: index)
            return
        }
    }

    /// Where the first one of a port is, or would be.
    private func place(of port: UInt16) -> Int {
        var (start, end) = (0, sockets.count)
        while start < end {
            let middle = (start + end) / 2
            if sockets[middle].port < port { start = middle + 1 } else { end = middle }
        }
        return start
    }
}
#endif
