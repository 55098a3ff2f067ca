/// Receives the test doubles that a task creates, to find leaked objects.
package protocol CreationObserver: AnyObject, Sendable {
    /// Called at the end of the initializer.
    func created(_ object: any AnyObject & Sendable)
}

package enum CreationObservers {
    // Not a closure: in a release build, Swift 6.3 finds no metadata for task-local functions, and crashes.
    @TaskLocal package static var current: (any CreationObserver)?

    /// Call this at the end of initializers of classes that tests create.
    package static func notify(of object: any AnyObject & Sendable) { current?.created(object) }
}
