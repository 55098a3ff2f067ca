/// The details of the note named "gate" with which a gate reports that a request has had its turn after a wait.
public struct GateNote: Sendable, Hashable {
    /// Name and port of the host.
    public let host: String
    /// The wait.
    public let wait: Duration
}
