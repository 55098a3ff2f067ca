/// An effect on calls that an accessory has on purpose, so its conformance suite accepts it.
///
/// ```swift
/// AccessoryConformance.cases(for: { MyAccessory() }, effects: [.cancels])
/// ```
///
/// Effects may be added, so write a `default` in a `switch`.
public enum AccessoryEffect: Sendable, Hashable, CaseIterable {
    /// The accessory can cancel running calls, for example because it signs the user out.
    ///
    /// The suite then accepts a cancellation instead of any other end of a call.
    case cancels
}
