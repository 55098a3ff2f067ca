import ErrandMessageSyntax

/// The pinned public keys of hosts, found by every way of writing a host; for a transport that pins.
///
/// ```swift
/// let pins = try HostPins(["api.example.com": ["sha256//inUse=", "sha256//next="], "*": ["sha256//common="]])
/// let keys = try pins.keys(for: "API.example.com.")     // those of api.example.com
/// ```
///
/// A key is text that the transport compares. The host `*` stands for all that have no keys of their own.
public struct HostPins: Sendable {
    /// The reason why pins cannot be used.
    public struct Fault: Error, CustomStringConvertible {
        /// A sentence, without a full stop.
        public let description: String
    }

    private var keys: [String: [String]] = [:]
    private let others: [String]?

    /// Makes pins of lists of keys by host. Throws for a host that is no host name, and for one that is written in two
    /// ways with different keys.
    public init(_ pins: [String: [String]]) throws(Fault) {
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

    /// Whether no host is pinned.
    public var isEmpty: Bool { keys.isEmpty && others == nil }

    /// The keys for a host, of which one has to match; nil if it is not pinned. Throws where hosts are pinned and this
    /// one is no host name.
    public func keys(for host: String) throws(Fault) -> [String]? {
        if isEmpty { return nil }
        guard let name = HostName.normalized(host) else {
            throw Fault(description: "the host of the URL is no host name, so that its pins are not known")
        }
        return keys[name] ?? others
    }
}
