/// The details of the note named "breaker" with which a breaker reports that it has opened or closed for a host.
public struct BreakerNote: Sendable, Hashable {
    /// Name and port of the host.
    public let host: String
    /// Whether it refuses requests now; a probe that fails opens it anew.
    public let isOpen: Bool
}
