import ErrandHTTP

/// Passes the transport's events to a filter's closure, then to filters further out.
final class WireObserver: Sendable {
    private let observer: @Sendable (TransportEvent) -> Void
    private let outer: WireObserver?

    init(_ observer: @escaping @Sendable (TransportEvent) -> Void, outer: WireObserver?) {
        (self.observer, self.outer) = (observer, outer)
    }

    fileprivate func receive(_ event: TransportEvent) {
        observer(event)
        outer?.receive(event)
    }
}

/// Passes the events of a transfer to the exchange's observers, then to the call.
final class ObservedTransfer: TransportObserver {
    private let observer: WireObserver
    private let call: any TransportObserver

    init(_ observer: WireObserver, _ call: any TransportObserver) { (self.observer, self.call) = (observer, call) }

    var isObserved: Bool { call.isObserved }

    func report(_ event: TransportEvent, isMeasured: Bool) {
        observer.receive(event)
        call.report(event, isMeasured: isMeasured)
    }
}
