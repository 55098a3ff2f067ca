// Start here: a ``StateBroadcaster`` sends a state to any number of readers, a ``ProgressReporter`` reports the
// progress of an operation with several parts, and a ``LatestValueNotifier`` notifies one listener.
