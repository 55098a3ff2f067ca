import Synchronization

/// Remembers the last type that didn't conform to a protocol. Asking the runtime takes 300 instructions, and
/// consecutive requests usually have the same type.
package final class PlainType: Sendable {
    private let known = Atomic<ObjectIdentifier?>(nil)

    package init() {}

    package func excludes(_ type: any Any.Type, unless conforms: () -> Bool) -> Bool {
        let type = ObjectIdentifier(type)
        if known.load(ordering: .relaxed) == type { return true }
        if conforms() { return false }
        known.store(type, ordering: .relaxed)
        return true
    }
}
