/// Receives the doubles that a test creates in its task: how this package's own tests find what outlives them.
package enum CreationObserver {
    @TaskLocal package static var current: (@Sendable (any AnyObject & Sendable) -> Void)?

    /// Every class of the kit that a test creates calls this at the end of its initializers.
    package static func notify(of object: any AnyObject & Sendable) { current?(object) }
}
