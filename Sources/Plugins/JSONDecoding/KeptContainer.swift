/// The container of an object, for the next object with the same keys: to make one costs more than to read a few members.
class KeptContainer {
    let members: ObjectMembers
    /// One for keys of another type.
    let next: KeptContainer?
    /// How many there are, from this one on.
    let count: Int
    private let keys: ObjectIdentifier
    /// The container, which is one reference; nil for one of another layout.
    let reference: UnsafeMutablePointer<AnyObject>?

    fileprivate init(
        _ members: ObjectMembers, _ keys: ObjectIdentifier, _ reference: UnsafeMutablePointer<AnyObject>?,
        _ next: KeptContainer?
    ) {
        (self.members, self.keys, self.reference) = (members, keys, reference)
        (self.next, count) = (next, (next?.count ?? 0) + 1)
    }

    /// Whether nothing else has the container.
    @inline(__always) var isUnique: Bool {
        if let reference { isKnownUniquelyReferenced(&reference.pointee) } else { false }
    }

    /// Whether it is a container for keys of a type.
    @inline(__always) func isFor<Key: CodingKey>(_ type: Key.Type) -> Bool { keys == ObjectIdentifier(type) }

    /// A container with members, before others.
    static func make<Key: CodingKey>(
        _ members: ObjectMembers, _ type: Key.Type, before next: KeptContainer?
    ) -> KeptContainerOf<KeyedDecodingContainer<Key>> {
        KeptContainerOf(members, KeyedDecodingContainer(KeyedValues<Key>(members: members)), type, next)
    }
}

/// A type of its own for each container, whose copies need no search for the metadata of the container.
final class KeptContainerOf<Container>: KeptContainer {
    private let storage: UnsafeMutablePointer<Container>

    fileprivate init(_ members: ObjectMembers, _ container: Container, _ keys: Any.Type, _ next: KeptContainer?) {
        storage = .allocate(capacity: 1)
        storage.initialize(to: container)
        let isReference = MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size
        let address = UnsafeMutableRawPointer(storage)
        super.init(
            members, ObjectIdentifier(keys), isReference ? address.assumingMemoryBound(to: AnyObject.self) : nil, next)
    }

    deinit {
        storage.deinitialize(count: 1)
        storage.deallocate()
    }

    @inline(never) func copy() -> Container { storage.pointee }
}
