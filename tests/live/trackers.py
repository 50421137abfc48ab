"""What `pt2 runs --export` wrote, read by the trackers' own packages: trackers.py mlflow|wandb FOLDER. Prints JSON: a run's name to its figures."""
import glob, json, os, sys


def mlflow_runs(folder):
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # mlflow 3.6 and later ask for it
    from mlflow.tracking import MlflowClient
    client = MlflowClient(tracking_uri="file://" + os.path.abspath(folder))
    (experiment,) = [e for e in client.search_experiments() if e.name == "pt2utils"]
    for r in client.search_runs([experiment.experiment_id]):
        artifacts = [a.path for a in client.list_artifacts(r.info.run_id)]
        yield r.data.tags["mlflow.runName"], {**r.data.metrics, "command": r.data.params["command"], "failed": r.info.status == "FAILED", "artifacts": artifacts}


def wandb_runs(folder):
    import wandb
    wandb._assert_is_internal_process = True
    from wandb.proto import wandb_internal_pb2
    from wandb.sdk.internal.datastore import DataStore
    for path in glob.glob(folder + "/offline-run-*/run-*.wandb"):
        store, run, kinds = DataStore(), {}, []
        store.open_for_scan(path)
        while (data := store.scan_data()) is not None:
            record = wandb_internal_pb2.Record()
            record.ParseFromString(data)
            kind = record.WhichOneof("record_type")
            kinds.append(kind)
            if kind == "run":
                name = record.run.display_name
                assert os.path.basename(path) == f"run-{record.run.run_id}.wandb" and record.run.project == "pt2utils"
                run.update({i.key: json.loads(i.value_json) for i in record.run.config.update})
            elif kind == "summary":
                run.update({i.key: json.loads(i.value_json) for i in record.summary.update})
            elif kind == "exit":
                run["failed"] = record.exit.exit_code != 0
        assert kinds == ["header", "run", "summary", "history", "exit", "final", "footer"], kinds
        yield name, run


print(json.dumps(dict({"mlflow": mlflow_runs, "wandb": wandb_runs}[sys.argv[1]](sys.argv[2]))))
