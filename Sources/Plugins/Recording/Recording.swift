// Start here: give an agent the accessory ``ExchangeRecorder``, and read its ``ExchangeRecorder/recording``.
//
// HAR/        HTTP Archives
// Metrics/    counters and histograms of hosts
// Sockets/    the messages of WebSockets
// Waterfall/  a page that shows exchanges over time

// Who masks what is recorded masks other bodies as well.
@_exported public import ErrandRedaction

/// The exchanges and activities that a recorder has kept, or that a file restores: values without secrets, to inspect
/// or to render.
///
/// ```swift
/// let slow = recorder.recording.exchanges.filter { $0.duration > .seconds(1) }
/// ```
public struct Recording: Sendable {
    /// Requests on the wire, in the order of their ends.
    public var exchanges: [RecordedExchange]
    /// Requests, batches and chains, in the order of their ends; empty for a recording from a file.
    public var activities: [RecordedActivity]
    /// The number of exchanges that were dropped before these.
    public var droppedExchanges: Int
    /// The number of activities that were dropped before these.
    public var droppedActivities: Int
    /// The counters of all activities, dropped ones included.
    public var metrics: NetworkMetrics

    /// Makes a recording.
    ///
    /// - Parameters:
    ///   - exchanges: requests on the wire, oldest first; none by default.
    ///   - activities: in the order of their ends; none by default.
    ///   - droppedExchanges: the number of those before; 0 by default.
    ///   - droppedActivities: the number of those before; 0 by default.
    ///   - metrics: nil counts the activities.
    public init(
        exchanges: [RecordedExchange] = [], activities: [RecordedActivity] = [], droppedExchanges: Int = 0,
        droppedActivities: Int = 0, metrics: NetworkMetrics? = nil
    ) {
        (self.exchanges, self.activities) = (exchanges, activities)
        (self.droppedExchanges, self.droppedActivities) = (droppedExchanges, droppedActivities)
        self.metrics = metrics ?? NetworkMetrics(counting: activities)
    }

    /// The exchanges as an HTTP Archive.
    public func harFile() -> HARFile { HARFile(self) }

    /// The activities and their exchanges as a page.
    public func waterfallPage(title: String = "Requests") -> WaterfallPage { WaterfallPage(self, title: title) }
}

extension ExchangeRecorder {
    /// The exchanges that have ended so far as an HTTP Archive (HAR 1.2).
    ///
    /// ```swift
    /// try recorder.harFile().encoded().write(to: directory.appending(path: "errand.har"))
    /// ```
    public func harFile() -> HARFile { recording.harFile() }

    /// The activities that have ended so far as one HTML page: a bar for each, with the phases of its exchanges.
    ///
    /// ```swift
    /// let page = recorder.waterfallPage(title: "Start of the app").html
    /// ```
    public func waterfallPage(title: String = "Requests") -> WaterfallPage { recording.waterfallPage(title: title) }
}
