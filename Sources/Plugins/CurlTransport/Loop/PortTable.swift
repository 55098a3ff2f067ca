#if os(Linux) || os(Android)
/// Sockets by local port, which several may share. Sorted by port, because every request looks one up and few add one.
struct PortTable {
    private var sockets: [(port: UInt16, descriptor: Int32)] = []

    subscript(index: Int) -> Int32 { sockets[index].descriptor }

    func range(of port: UInt16) -> Range<Int> {
        let start = slot(of: port)
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

    /// The index of a port's first socket, or where to insert it.
    private func slot(of port: UInt16) -> Int {
        var (start, end) = (0, sockets.count)
        while start < end {
            let middle = (start + end) / 2
            if sockets[middle].port < port { start = middle + 1 } else { end = middle }
        }
        return start
    }
}
#endif
