import ErrandMessageSyntax

/// The pinned public keys of hosts, for transports that support pinning. Finds a host's keys regardless of how its name
/// is spelled, for example in uppercase or with a final dot.
///
/// ```swift
/// let pins = try HostPins(["api.example.com": ["sha256//inUse=", "sha256//next="], "*": ["sha256//common="]])
/// let keys = try pins.keys(for: "API.example.com.")     // those of api.example.com
/// ```
///
/// A key is a text in the transport's format. `*` means all hosts without their own keys.
public struct HostPins: Sendable {
    /// The reason why pins can't be used.
    public struct Fault: Error, CustomStringConvertible {
        /// The reason, as a sentence without a full stop.
        public let description: String
    }

    private var keys: [String: [String]] = [:]
    private let others: [String]?

    /// Creates pins from keys by host. Throws ``Fault`` if a host isn't a host name, or if two spellings of a host have
    /// different keys.
    public init(_ pins: [String: [String]]) throws(Fault) {
        others = pins["*"]
        for (name, list) in pins where name != "*" {
            guard let host = HostName.normalized(name) else {
                throw Fault(
                    description: "the pins for \"\(name)\" aren't for a host name: leave out scheme, port and path")
            }
            if let known = keys[host], Set(known) != Set(list) {
                throw Fault(description: "the host \(host) is pinned twice, to different keys")
            }
            keys[host] = list
        }
    }

    /// Whether the collection is empty, so no host is pinned.
    public var isEmpty: Bool { keys.isEmpty && others == nil }

    /// Returns a host's keys, or `nil` if the host isn't pinned. One of the keys must match. Throws ``Fault`` if there
    /// are pins and the host isn't a host name.
    public func keys(for host: String) throws(Fault) -> [String]? {
        if isEmpty { return nil }
        guard let name = HostName.normalized(host) else {
            throw Fault(description: "the URL's host isn't a host name, so its pins can't be looked up")
        }
        return keys[name] ?? others
    }
}
