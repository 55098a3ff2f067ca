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
    /// The transport holds requests to a host back until an earlier request has its response, for example to keep their
    /// order.
    ///
    /// The suite then leaves out cases and laws in which requests to a host run at the same time. A transport that
    /// sends equal requests once doesn't need an effect.
    case ordersRequests
}
