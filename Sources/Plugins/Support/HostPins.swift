import ErrandHTTPSyntax

/// Public keys by host, however the host is written.
package struct HostPins: Sendable {
    package struct Fault: SupportFault {
        package let description: String
    }

    private var keys: [String: [String]] = [:]
    private let others: [String]?

    /// Throws for a key that is no host name, and for two that are one host with other pins.
    package init(_ pins: [String: [String]]) throws(Fault) {
        others = pins["*"]
        for (name, list) in pins where name != "*" {
            guard let host = HostName.normalized(name) else {
                throw Fault(
                    description: "the pins for \"\(name)\" are for no host name: no scheme, port or path belongs to it")
            }
            if let known = keys[host], Set(known) != Set(list) {
                throw Fault(description: "the host \(host) is pinned twice, to different keys")
            }
            keys[host] = list
        }
    }

    package var isEmpty: Bool { keys.isEmpty && others == nil }

    /// The pins for a host; nil if it has none. Throws where pins exist and it cannot be said for which host.
    package func keys(for host: String) throws(Fault) -> [String]? {
        if isEmpty { return nil }
        guard let name = HostName.normalized(host) else {
            throw Fault(description: "the host of the URL is no host name, so that its pins are not known")
        }
        return keys[name] ?? others
    }
}
