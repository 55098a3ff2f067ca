import ErrandSupport

/// A second address of the loopback interface that does not respond at a port: the packets that would open a connection
/// are dropped, as a firewall drops them.
package final class SilentAddress: Sendable {
    package let address: String
    private let descriptors: [Int32]

    /// The address 127.0.0.`number`, which Darwin has for 1 only; nil where it cannot be had, or the port is taken there.
    package init?(_ number: UInt8, port: Int) {
        address = "127.0.0.\(number)"
        guard let port = UInt16(exactly: port) else { return nil }
        let host = UInt32(0x7F00_0000) | UInt32(number)
        guard let listener = POSIX.listen(host: host, port: port, backlog: 0) else { return nil }
        // The system drops what does not fit into the queue of connections that nobody accepts.
        var all = [listener]
        for _ in 0..<16 {
            guard let (client, isConnected) = POSIX.connect(host: host, port: port, milliseconds: 100) else { break }
            all.append(client)
            if !isConnected {
                descriptors = all
                return
            }
        }
        for each in all { POSIX.end(each) }
        return nil
    }

    deinit { for each in descriptors { POSIX.end(each) } }
}
