// Start here: give an agent the accessory ``ExchangeRecorder``, and read its ``ExchangeRecorder/recording``.
//
// HAR/        HTTP Archives
// Metrics/    counters and histograms per host
// Sockets/    WebSocket messages
// Waterfall/  a page that shows exchanges over time

// Apps that record also need to mask bodies.
@_exported public import ErrandRedaction

/// A recording: exchanges and activities without secrets. An exchange is a request that was sent, and its response.
///
/// ```swift
/// let slow = recorder.recording.exchanges.filter { $0.duration > .seconds(1) }
/// ```
public struct Recording: Sendable {
    /// The exchanges, in the order in which they ended.
    public var exchanges: [RecordedExchange]
    /// The activities, in the order in which they ended. It's empty for a recording from a file.
    public var activities: [RecordedActivity]
    /// The number of earlier exchanges that were dropped because of the recorder's limits.
    public var droppedExchanges: Int
    /// The number of earlier activities that were dropped because of the recorder's limits.
    public var droppedActivities: Int
    /// The counters of all activities, including activities that were dropped.
    public var metrics: NetworkMetrics

    /// Creates a recording.
    ///
    /// - Parameters:
    ///   - exchanges: The exchanges, oldest first. Defaults to empty.
    ///   - activities: The activities, in the order in which they ended. Defaults to empty.
    ///   - droppedExchanges: The number of earlier exchanges that were dropped. Defaults to 0.
    ///   - droppedActivities: The number of earlier activities that were dropped. Defaults to 0.
    ///   - metrics: The counters. Defaults to nil, which counts the given activities.
    public init(
        exchanges: [RecordedExchange] = [], activities: [RecordedActivity] = [], droppedExchanges: Int = 0,
        droppedActivities: Int = 0, metrics: NetworkMetrics? = nil
    ) {
        (self.exchanges, self.activities) = (exchanges, activities)
        (self.droppedExchanges, self.droppedActivities) = (droppedExchanges, droppedActivities)
        self.metrics = metrics ?? NetworkMetrics(counting: activities)
    }

    /// Returns the exchanges as an HTTP Archive (HAR 1.2), which browsers can open.
    public func harFile() -> HARFile { HARFile(self) }

    /// Returns an HTML page that shows the activities and their exchanges on a timeline.
    public func waterfallPage(title: String = "Requests") -> WaterfallPage { WaterfallPage(self, title: title) }
}

extension ExchangeRecorder {
    /// Returns the finished exchanges as an HTTP Archive (HAR 1.2).
    ///
    /// ```swift
    /// try recorder.harFile().encoded().write(to: directory.appending(path: "errand.har"))
    /// ```
    public func harFile() -> HARFile { recording.harFile() }

    /// Returns an HTML page that shows the finished activities and their exchanges on a timeline.
    ///
    /// ```swift
    /// let page = recorder.waterfallPage(title: "Start of the app").html
    /// ```
    public func waterfallPage(title: String = "Requests") -> WaterfallPage { recording.waterfallPage(title: title) }
}
