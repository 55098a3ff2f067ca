/// An observer that is told about the test doubles that a task creates, to find leaks.
package protocol CreationObserver: AnyObject, Sendable {
    func created(_ object: any AnyObject & Sendable)
}

package enum CreationObservers {
    // This value isn't a closure. In release builds, Swift 6.3 doesn't find the metadata of a function in a task-local
    // value, and crashes.
    @TaskLocal package static var current: (any CreationObserver)?

    /// Notifies the observer. Call this at the end of the initializers of test doubles.
    package static func notify(of object: any AnyObject & Sendable) { current?.created(object) }
}
