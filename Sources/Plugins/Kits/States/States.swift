// Start here: a ``StateBroadcaster`` sends a state to any number of readers, a ``ProgressReporter`` reports a
// composite's progress, and a ``LatestValueNotifier`` notifies one listener.
