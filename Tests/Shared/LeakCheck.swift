import ErrandTesting
import Synchronization
package import Testing

extension Trait where Self == LeakCheck {
    /// Fails each test of the suite if an object that it created outlives it.
    package static var leakChecked: Self { LeakCheck() }
}

/// Checks that each test releases whatever it creates: stubs, servers, recording accessories and time sources of the
/// test kit, temporary directories, programs, and objects it passes to ``watchForLeaks(_:)``. An agent holds its
/// transport and its accessories, and a running activity holds its agent, so the check also finds agents and activities
/// that outlive their tests.
package struct LeakCheck: SuiteTrait, TestTrait, TestScoping {
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let created = Created()
        try await CreationObservers.$current.withValue(created, operation: function)
        // Background work may need a moment to finish.
        do { try await eventually { created.remaining.isEmpty } } catch {
            let counts = Dictionary(grouping: created.remaining) { "\(type(of: $0))" }.mapValues(\.count)
            let names = counts.map { "\($0.value) \($0.key)" }.sorted().joined(separator: ", ")
            Issue.record("outlives the test that created it: \(names)", sourceLocation: test.sourceLocation)
        }
    }
}

/// Makes ``LeakCheck`` watch an object.
@discardableResult
package func watchForLeaks<Object: AnyObject & Sendable>(_ object: Object) -> Object {
    CreationObservers.notify(of: object)
    return object
}

/// The objects that a test created, held weakly.
private final class Created: CreationObserver {
    private struct Reference: Sendable {
        weak let object: (any AnyObject & Sendable)?
    }

    private let references = Mutex<[Reference]>([])

    func created(_ object: any AnyObject & Sendable) { references.withLock { $0.append(Reference(object: object)) } }

    var remaining: [any AnyObject & Sendable] {
        references.withLock { references in
            references.removeAll { $0.object == nil }
            return references.compactMap(\.object)
        }
    }
}
