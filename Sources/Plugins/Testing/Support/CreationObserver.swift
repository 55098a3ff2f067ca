/// Receives the doubles that a test creates in its task: this package's own tests find objects by it that outlive them.
package protocol CreationObserver: AnyObject, Sendable {
    /// Receives an object at the end of its initializer.
    func created(_ object: any AnyObject & Sendable)
}

/// The observer of the task.
package enum CreationObservers {
    // An object: a release build of Swift 6.3 finds no metadata for a task-local value of a function type, and crashes.
    @TaskLocal package static var current: (any CreationObserver)?

    /// Every class of the kit that a test creates calls this at the end of its initializers.
    package static func notify(of object: any AnyObject & Sendable) { current?.created(object) }
}
