import ErrandSupport

extension Activity: TransportObserver {
    var isObserved: Bool { events?.isObserved == true }

    /// Notifies the listener and the accessories, in order: what happens on another thread meanwhile, or within an
    /// accessory, follows. Nothing follows `willStop` but `didStop`, and nothing follows that, whatever reports it.
    func notify(_ event: @autoclosure () -> ActivityEvent) {
        if let events, events.isObserved { events.deliver(event(), of: self) }
    }

    /// The same for the events that end an activity, once its outcome is decided.
    func notifyLast(_ event: @autoclosure () -> ActivityEvent, end: EventQueue.End) {
        guard let events else { return }
        if events.isObserved { return events.deliver(event(), of: self, end: end) }
        // Progress is all that a listener receives, and there is no more of it from the first of these on.
        if end == .events { events.end(self) }
    }

    /// Notifies the handle, the progress listener and the accessories of what happens on the wire; a composite reports
    /// the progress of the whole. While an accessory is slow, only the newest of the waiting progress events is
    /// delivered. Does nothing once the activity is over.
    public func report(_ event: TransportEvent) { report(event, isMeasured: false) }

    /// The same; within one transfer nothing falls that a transport reports, not even the fraction when the length of
    /// the response becomes known.
    func report(_ event: TransportEvent, isMeasured: Bool) {
        if isOver { return }
        guard case .progress(let progress) = event else { return notify(.transport(event)) }
        guard let progress = store(progress, isMeasured: isMeasured) else { return }
        events?.deliver(.transport(.progress(progress)), of: self)
    }

    /// Notifies accessories of a message of a stream, if one of them wants messages. Does nothing once the activity is
    /// over.
    ///
    /// - Parameter message: makes the message, with as many bytes of it at most; not called if no accessory wants it.
    public func report(message: (_ maximumBytes: Int) -> StreamMessage) {
        if observesMessages { notify(.message(message(maximumBodyBytes))) }
    }

    /// Asked for each message, since few activities have any.
    var observesMessages: Bool { events?.accessories.contains { $0.observesMessages } ?? false }

    /// Notifies accessories of something worth a line in a log. Does nothing once the activity is over; staged work
    /// that is committed or discarded still counts as a part of it.
    public func note(
        _ name: String, _ message: @autoclosure () -> String, details: @autoclosure () -> (any Sendable)? = nil
    ) {
        notify(.note(ActivityNote(name, message(), details: details())))
    }
}
