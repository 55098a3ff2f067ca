import ErrandSupport

/// A port on the loopback interface that doesn't respond. The system drops packets to it, as a firewall does.
package final class SilentAddress: Sendable {
    package let address: String
    private let descriptors: [Int32]

    /// Occupies a port of the address 127.0.0.`number`. Returns `nil` if the port is taken, or if the system doesn't
    /// have this address. Darwin has only 127.0.0.1.
    package init?(_ number: UInt8, port: Int) {
        address = "127.0.0.\(number)"
        guard let port = UInt16(exactly: port) else { return nil }
        let host = UInt32(0x7F00_0000) | UInt32(number)
        guard let listener = POSIX.listen(host: host, port: port, backlog: 0) else { return nil }
        // When the listener's queue is full, the system drops further connection attempts.
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
