// Start here: give an agent the accessory ``ExchangeRecorder``, and read its ``ExchangeRecorder/recording``.
//
// HAR/        HTTP Archives
// Metrics/    counters and histograms per host
// Sockets/    WebSocket messages
// Waterfall/  a page that shows exchanges over time

// Re-exported because apps that record also need to mask bodies.
@_exported public import ErrandRedaction

/// Recorded exchanges and activities, from a recorder or a file. They don't contain secrets.
///
/// ```swift
/// let slow = recorder.recording.exchanges.filter { $0.duration > .seconds(1) }
/// ```
public struct Recording: Sendable {
    /// The exchanges, one for each request that was sent, in the order in which they ended.
    public var exchanges: [RecordedExchange]
    /// Requests, batches and chains, in the order in which they ended. Empty for a recording from a file.
    public var activities: [RecordedActivity]
    /// How many earlier exchanges were dropped, because the recorder's limits were reached.
    public var droppedExchanges: Int
    /// How many earlier activities were dropped, because the recorder's limits were reached.
    public var droppedActivities: Int
    /// The counters of all activities, including dropped activities.
    public var metrics: NetworkMetrics

    /// Creates a recording.
    ///
    /// - Parameters:
    ///   - exchanges: the requests sent, oldest first. Defaults to empty.
    ///   - activities: the activities, in the order in which they ended. Defaults to empty.
    ///   - droppedExchanges: the number of earlier exchanges that were dropped. Defaults to 0.
    ///   - droppedActivities: the number of earlier activities that were dropped. Defaults to 0.
    ///   - metrics: the counters. Defaults to `nil`, which counts the activities.
    public init(
        exchanges: [RecordedExchange] = [], activities: [RecordedActivity] = [], droppedExchanges: Int = 0,
        droppedActivities: Int = 0, metrics: NetworkMetrics? = nil
    ) {
        (self.exchanges, self.activities) = (exchanges, activities)
        (self.droppedExchanges, self.droppedActivities) = (droppedExchanges, droppedActivities)
        self.metrics = metrics ?? NetworkMetrics(counting: activities)
    }

    /// Returns an HTTP Archive (HAR 1.2) of the exchanges, which browsers can open.
    public func harFile() -> HARFile { HARFile(self) }

    /// Returns an HTML page that shows the activities and their exchanges as bars on a timeline.
    public func waterfallPage(title: String = "Requests") -> WaterfallPage { WaterfallPage(self, title: title) }
}

extension ExchangeRecorder {
    /// Returns the exchanges that have ended so far as an HTTP Archive (HAR 1.2).
    ///
    /// ```swift
    /// try recorder.harFile().encoded().write(to: directory.appending(path: "errand.har"))
    /// ```
    public func harFile() -> HARFile { recording.harFile() }

    /// Returns the activities that have ended so far as an HTML page, with one bar per activity that shows the phases
    /// of its exchanges.
    ///
    /// ```swift
    /// let page = recorder.waterfallPage(title: "Start of the app").html
    /// ```
    public func waterfallPage(title: String = "Requests") -> WaterfallPage { recording.waterfallPage(title: title) }
}
