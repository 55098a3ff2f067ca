/// Receives the test doubles that a task creates. This package's tests use it to find leaked objects.
package protocol CreationObserver: AnyObject, Sendable {
    /// Receives an object at the end of its initializer.
    func created(_ object: any AnyObject & Sendable)
}

/// The current task's observer.
package enum CreationObservers {
    // An object rather than a closure: a release build of Swift 6.3 finds no metadata for a task-local value of
    // function type, and crashes.
    @TaskLocal package static var current: (any CreationObserver)?

    /// Call this at the end of the initializers of every class that tests create.
    package static func notify(of object: any AnyObject & Sendable) { current?.created(object) }
}
