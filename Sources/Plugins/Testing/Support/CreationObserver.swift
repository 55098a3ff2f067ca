/// Receives the test doubles that a task creates, to find leaks.
package protocol CreationObserver: AnyObject, Sendable {
    func created(_ object: any AnyObject & Sendable)
}

package enum CreationObservers {
    // Not a closure: in release builds, Swift 6.3 finds no metadata for task-local functions and crashes.
    @TaskLocal package static var current: (any CreationObserver)?

    /// Call this at the end of the initializers of test doubles.
    package static func notify(of object: any AnyObject & Sendable) { current?.created(object) }
}
