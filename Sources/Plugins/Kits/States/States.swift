// Start here: a ``StateBroadcaster`` shows a state to any number of readers, a ``ProgressReporter`` reports a composite's
// progress, and a ``LatestValueNotifier`` tells one listener.
