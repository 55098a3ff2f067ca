import ErrandSupport

extension Activity: TransportObserver {
    /// Notifies the listener and the accessories, in order: what happens on another thread meanwhile, or within an
    /// accessory, follows. Nothing follows `willStop` but `didStop`, and nothing follows that, whatever reports it.
    func notify(_ event: @autoclosure () -> ActivityEvent) {
        if !accessories.isEmpty { events?.deliver(event(), to: pass) }
    }

    /// The same for `willStop` and `didStop`.
    func notifyLast(_ event: ActivityEvent) {
        events?.deliver(event, closing: true, to: pass)
    }

    private func pass(_ event: ActivityEvent) {
        if let listener, case .transport(.progress(let progress)) = event { listener(progress) }
        for accessory in accessories { accessory.activity(self, did: event) }
    }

    /// Returns when everything so far has reached the accessories.
    func allDelivered() async { await events?.allDelivered() }

    /// Notifies the handle, the progress listener and the accessories of what happens on the wire; a composite reports
    /// the progress of the whole. Where an accessory is slow, of several steps that wait for it the last one counts. Does
    /// nothing once the activity is over.
    public func report(_ event: TransportEvent) {
        if isOver { return }
        guard case .progress(let progress) = event else { return notify(.transport(event)) }
        guard remember(progress) else { return }
        events?.deliver(
            .transport(event), replacing: { if case .transport(.progress) = $0 { true } else { false } }, to: pass)
    }

    /// Notifies accessories of something worth a line in a log. Does nothing once the activity is over; staged work that
    /// is committed or discarded still counts as a part of it.
    public func note(_ name: String, _ message: @autoclosure () -> String, details: (any Sendable)? = nil) {
        notify(.note(ActivityNote(name, message(), details: details)))
    }
}
