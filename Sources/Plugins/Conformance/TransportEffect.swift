import Errand

/// A behavior that a transport has on purpose, so its conformance suite accepts it.
///
/// ```swift
/// TransportConformance.cases(for: { MyTransport() }, effects: [.continuesBodies])
/// ```
///
/// Effects may be added, so write a `default` in a `switch`.
public enum TransportEffect: Sendable, Hashable, CaseIterable {
    /// If the body of a response to a GET breaks off, the transport requests the rest with `Range`.
    ///
    /// The suite then accepts further requests after such a fault, and adds ``TransportLaw/continuation``.
    case continuesBodies
}
